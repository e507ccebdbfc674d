import type { HandlerResult } from '../core/rest/route.ts'

/**
 * The sandbox gives the page its own origin, apart from the session and the dashboard. The page runs and loads nothing,
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

/** Names of attributes that lead elsewhere, anywhere, also in SVG and in templates with a shadow root. */
const LEADS = /([\s/"'])((?:xlink:)?href|action|formaction|http-equiv|target|ping)(?=\s*=)/gi

function withoutLinks(html: string): string {
  return html.replace(LEADS, '$1data-$2')
}
