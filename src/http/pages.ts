import type { HandlerResult } from './routes/route.ts'

/** Forbids loading, framing and scripts. Forms may only post to their own origin. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
}

/** The form's only field, named by RFC 8058: people and mail providers send the same request. */
const FORM =
  '<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>'

export const confirmPage: HandlerResult = page(
  200,
  'Unsubscribe?',
  `<p>You will no longer receive these messages.</p>${FORM}`,
)
export const donePage: HandlerResult = page(
  200,
  'You are unsubscribed',
  '<p>You will no longer receive these messages.</p>',
)
export const incompletePage: HandlerResult = page(400, 'Unsubscribe?', `<p>Please confirm.</p>${FORM}`)
export const unknownPage: HandlerResult = page(
  404,
  'This link does not work',
  '<p>It is incomplete or has expired.</p>',
)

function page(status: number, title: string, body: string): HandlerResult {
  const content =
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    `<title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>\n`
  return { status, text: { contentType: 'text/html; charset=utf-8', content }, headers: HEADERS }
}
