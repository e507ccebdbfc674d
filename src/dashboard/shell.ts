import { randomBytes } from 'node:crypto'
import { VERSION } from '../core/lifecycle/version.ts'
import type { HttpRequest, HttpResponse } from '../core/rest/message.ts'
import { type Entry, entries } from './assets.ts'

export interface ShellSettings {
  readonly title: string
  /** The application whose scripts it loads. */
  readonly entry: Entry
  /** Attributes that the scripts read before their first request. */
  readonly data: Readonly<Record<string, string>>
}

/**
 * Makes the page that answers every address of the dashboard or the mailbox. It holds nothing that needs protection. Addresses of assets
 * are relative to the depth below the mount, so no option has to name the mount.
 */
export function createShell(
  settings: ShellSettings,
): (request: HttpRequest, secure: boolean) => HttpResponse {
  const data = Object.entries({ version: VERSION, ...settings.data })
    .map(([name, value]) => `data-${name}="${escaped(value)}"`)
    .join(' ')
  const files = entries[settings.entry]
  return (request, secure) => {
    const nonce = randomBytes(16).toString('base64url')
    const up = '../'.repeat(request.path.split('/').length - 2) || './'
    const begins = request.path === '/'
    const html = `<!doctype html>
<html lang="en" ${data}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${escaped(settings.title)}</title>
${begins ? begin(nonce) : load(nonce, up, files)}
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`
    return {
      status: 200,
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': String(Buffer.byteLength(html)),
        'Cache-Control': 'no-store',
        'Content-Security-Policy': policy(nonce),
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Referrer-Policy': 'no-referrer',
        'X-Content-Type-Options': 'nosniff',
        'X-Frame-Options': 'DENY',
        ...(secure ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
      },
      body: request.method === 'HEAD' ? null : html,
    }
  }
}

/**
 * The server cannot tell `/mount` from `/mount/`, since frameworks and proxies make both `/`, and relative addresses differ
 * between the two. So the root leads on to a page below it, and the script there shows the root's address again.
 */
function begin(nonce: string): string {
  const target = "location.pathname.replace(/[/]?$/,'/start')+location.search+location.hash"
  return `<script nonce="${nonce}">location.replace(${target})</script>`
}

function load(nonce: string, up: string, { script, style }: (typeof entries)[Entry]): string {
  return `<link rel="stylesheet" href="${up}assets/${style}">
<script type="module" nonce="${nonce}" src="${up}assets/${script}"></script>`
}

/** The code editor adds style elements with the nonce. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
