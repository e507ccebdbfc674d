import { hash } from 'node:crypto'
import type { HandlerResult } from '../rest/route.ts'
import { readableOn } from '../tenancy/branding.ts'
import { type Branding, UNBRANDED } from '../tenancy/organization.ts'
import { escapeHtml } from '../text/escape.ts'
import { directionOf } from './page-texts.ts'
import type { LocalTexts } from './texts/catalogue.ts'

/** A table whose rows have their cells below their head. */
function stacked(table: string): string {
  return (
    `${table} thead{display:none}${table} tbody tr{display:flex;flex-wrap:wrap;gap:0 1.25rem;padding-block:.5rem}` +
    `${table} td,${table} tbody th{padding:0}${table} tbody th{flex:1 0 100%}` +
    `${table} td label{gap:.5rem}${table} td label span{display:inline}`
  )
}

/** Logical properties only, so that it serves both directions of writing. */
const STYLE =
  ':root{color-scheme:light dark;--text:#1b1b1f;--soft:#50505a;--line:#80808a;--rule:#dcdce2;--back:#fff;--good:#e6f4ea}' +
  '@media(prefers-color-scheme:dark){:root{--text:#ececf1;--soft:#b9b9c4;--line:#8b8b96;--rule:#3a3a42;--back:#17171b;--good:#1d3a26}}' +
  '*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}' +
  'main{max-inline-size:40rem;margin-inline:auto;padding:1.5rem 1rem;overflow-wrap:anywhere}h1{font-size:1.5rem}' +
  'fieldset{border:1px solid var(--rule);border-radius:.5rem;margin:0 0 1rem;padding:.5rem 1rem 1rem;min-inline-size:0}' +
  'legend{font-weight:600;padding-inline:.25rem}fieldset p{margin:0 0 .5rem;color:var(--soft)}' +
  'label{display:flex;gap:.75rem;align-items:center;min-block-size:2.75rem}input{inline-size:1.25rem;block-size:1.25rem;margin:0;flex:none;accent-color:var(--brand,auto)}' +
  'select,input[type=time]{inline-size:auto;min-inline-size:0;block-size:auto;min-block-size:2.75rem;flex:0 1 auto;font:inherit}' +
  '.times{margin-block-end:.5rem;display:flex;flex-wrap:wrap;gap:0 1.5rem;align-items:center}.times span{flex:1 0 100%}' +
  'button{font:inherit;min-block-size:2.75rem;padding:.5rem 1rem;border:1px solid var(--text);border-radius:.5rem;' +
  'background:var(--brand,var(--text));color:var(--on-brand,var(--back));cursor:pointer}button.plain{background:none;color:var(--text)}' +
  'a{color:inherit}:focus-visible{outline:3px solid #1a6ae0;outline-offset:2px}' +
  'table{inline-size:100%;border-collapse:collapse;margin-block-end:1.5rem}td,th{text-align:start;padding:.25rem .5rem}' +
  'thead th{font-weight:400;color:var(--soft);text-align:center}tbody tr{border-block-start:1px solid var(--rule)}' +
  'tbody th{padding-inline-start:0}tbody p{margin:0;font-weight:400;color:var(--soft)}td label{justify-content:center}' +
  'td label span{display:none}.always{color:var(--soft)}' +
  `@media(max-width:40rem){${stacked('table')}}${stacked('.many')}` +
  'fieldset:not(:has([value=own]:checked)) .own{display:none}' +
  '.topic{border-inline-start:.25rem solid var(--brand,var(--line));padding-inline-start:.75rem}.topic>*{display:block}.topic span{color:var(--soft)}' +
  '[role=status]{background:var(--good);padding:.75rem 1rem;border-radius:.5rem}' +
  'form+form{margin-block-start:2rem;border-block-start:1px solid var(--rule);padding-block-start:1rem}' +
  'header{background:var(--brand,none);color:var(--on-brand,inherit);font-weight:600}' +
  'header div{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center;max-inline-size:40rem;margin-inline:auto;' +
  'padding:.75rem 1rem;overflow-wrap:anywhere}header img{max-block-size:3rem;max-inline-size:100%}'

/** The frame of a page around its own content. */
export interface PageLook extends LocalTexts {
  /** Null: unknown. */
  readonly branding: Branding | null
}

/** The style of a page in the colour of its organization. */
function styleOf({ color }: Branding): string {
  return color === null ? STYLE : `${STYLE}:root{--brand:${color};--on-brand:${readableOn(color)}}`
}

/** The name is next to the logo, whose own text is therefore empty. */
function headerOf({ name, logoUrl }: Branding): string {
  const logo = logoUrl === null ? '' : `<img src="${escapeHtml(logoUrl)}" alt="">`
  const shown = name === null ? '' : `<span>${escapeHtml(name)}</span>`
  return logo + shown === '' ? '' : `<header><div>${logo}${shown}</div></header>`
}

/** Forbids scripts, framing, and loading anything but a logo. Forms may only post to their own origin. */
function headersOf(style: string, { logoUrl }: Branding): Readonly<Record<string, string>> {
  const images = logoUrl === null ? '' : `img-src ${new URL(logoUrl).origin}; `
  return {
    'Content-Security-Policy':
      `default-src 'none'; ${images}style-src 'sha256-${hash('sha256', style, 'base64')}'; ` +
      "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
    Vary: 'Accept-Language',
  }
}

/** A page for people. @param body HTML */
export function htmlPage(
  status: number,
  { language, branding }: Omit<PageLook, 'texts'>,
  title: string,
  body: string,
): HandlerResult {
  const shown = branding ?? UNBRANDED
  const style = styleOf(shown)
  const content =
    `<!doctype html><html lang="${escapeHtml(language)}" dir="${directionOf(language)}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    `<title>${escapeHtml(title)}</title><style>${style}</style></head>` +
    `<body>${headerOf(shown)}<main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>\n`
  const text = { contentType: 'text/html; charset=utf-8', content }
  return { status, text, headers: headersOf(style, shown) }
}
