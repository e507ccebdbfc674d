import { htmlTokens } from '../domain/html-tokens.ts'
import type { HandlerResult } from '../http/routes/route.ts'

/**
 * The sandbox gives the page an origin of its own, apart from the session and the dashboard. The page runs and loads nothing,
 * and only the dashboard may frame it.
 */
const HEADERS = {
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}

/** Shows HTML as a recipient would see it. Links lead nowhere: one of them may unsubscribe the recipient. */
export function previewPage(html: string, scheme: 'light' | 'dark'): HandlerResult {
  const content = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="${scheme}">${withoutLinks(html)}`
  return { text: { contentType: 'text/html; charset=utf-8', content }, headers: HEADERS }
}

const LEADS = /\s(?:href|action|formaction|xlink:href|http-equiv|target)(?=[\s=])/gi

function withoutLinks(html: string): string {
  let result = ''
  let at = 0
  for (const token of htmlTokens(html)) {
    if (token.kind !== 'open' || !LEADING.has(token.name)) continue
    const end = token.attributesAt + token.attributes.length
    result +=
      html.slice(at, token.attributesAt) + token.attributes.replace(LEADS, (name) => ` data-${name.trim()}`)
    at = end
  }
  return result + html.slice(at)
}

const LEADING: ReadonlySet<string> = new Set(['a', 'area', 'form', 'button', 'input', 'meta', 'base', 'link'])
