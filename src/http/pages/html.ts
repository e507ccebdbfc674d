import { hash } from 'node:crypto'
import { directionOf } from '../../domain/page-texts.ts'
import { escapeHtml } from '../../domain/template/escape.ts'
import type { HandlerResult } from '../routes/route.ts'

/** Logical properties only, so that it serves both directions of writing. */
const STYLE =
  ':root{color-scheme:light dark;--text:#1b1b1f;--soft:#50505a;--line:#80808a;--back:#fff;--good:#e6f4ea}' +
  '@media(prefers-color-scheme:dark){:root{--text:#ececf1;--soft:#b9b9c4;--line:#8b8b96;--back:#17171b;--good:#1d3a26}}' +
  '*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}' +
  'main{max-inline-size:40rem;margin-inline:auto;padding:1.5rem 1rem;overflow-wrap:anywhere}h1{font-size:1.5rem}' +
  'fieldset{border:1px solid var(--line);border-radius:.5rem;margin:0 0 1rem;padding:.5rem 1rem 1rem;min-inline-size:0}' +
  'legend{font-weight:600;padding-inline:.25rem}fieldset p{margin:0 0 .5rem;color:var(--soft)}' +
  'label{display:flex;gap:.75rem;align-items:center;min-block-size:2.75rem}input{inline-size:1.25rem;block-size:1.25rem;flex:none}' +
  'button{font:inherit;min-block-size:2.75rem;padding:.5rem 1rem;border:1px solid var(--text);border-radius:.5rem;' +
  'background:var(--text);color:var(--back);cursor:pointer}button.plain{background:none;color:var(--text)}' +
  'a{color:inherit}:focus-visible{outline:3px solid #1a6ae0;outline-offset:2px}' +
  '[role=status]{background:var(--good);padding:.75rem 1rem;border-radius:.5rem}' +
  'form+form{margin-block-start:2rem;border-block-start:1px solid var(--line);padding-block-start:1rem}'

/** Forbids loading, framing and scripts. Forms may only post to their own origin. */
const HEADERS = {
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; ` +
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
  Vary: 'Accept-Language',
}

/** A page for people. @param body HTML */
export function htmlPage(status: number, language: string, title: string, body: string): HandlerResult {
  const content =
    `<!doctype html><html lang="${escapeHtml(language)}" dir="${directionOf(language)}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>` +
    `<body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>\n`
  return { status, text: { contentType: 'text/html; charset=utf-8', content }, headers: HEADERS }
}
