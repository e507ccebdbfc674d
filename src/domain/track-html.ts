import { attributeOf, attributeSpan, type HtmlToken, htmlTokens } from './html-tokens.ts'

/** What is counted of an organization's HTML mails. */
export interface Tracking {
  /** A picture of one pixel, which is fetched when the mail is opened. */
  readonly opens: boolean
  /** Links lead over an address of the service. */
  readonly clicks: boolean
}

export const NO_TRACKING: Tracking = Object.freeze({ opens: false, clicks: false })

/** Where what is counted leads. */
export interface TrackedLinks {
  /** Null: not counted. */
  readonly pixel: string | null
  /** The address that leads to this one; null: the link stays as it is. */
  click(href: string): string | null
}

/** With this attribute and `false`, a link stays as it is. */
const OPT_OUT = 'data-carillon-track'
const LINKS: ReadonlySet<string> = new Set(['a', 'area'])
/** What leads on must fit into a request line, signed and encoded. */
const MAX_HREF = 2_000
const REFERENCES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/**
 * HTML with its links and opening counted; the same for the same input. Touches only `href` of links that lead to a web
 * page, and adds one picture before the end of the body.
 */
export function trackHtml(html: string, { pixel, click }: TrackedLinks): string {
  let result = ''
  let done = 0
  let bodyEnd = html.length
  for (const token of htmlTokens(html)) {
    if (token.kind === 'close' && token.name === 'body') bodyEnd = token.at
    const link = token.kind === 'open' && LINKS.has(token.name) ? linkIn(token) : null
    const address = link === null ? null : click(link.target)
    if (link === null || address === null) continue
    result += `${html.slice(done, link.from)}href="${escaped(address)}"`
    done = link.to
  }
  if (pixel === null) return result + html.slice(done)
  const end = Math.max(done, bodyEnd)
  const image = `<img src="${escaped(pixel)}" width="1" height="1" alt="" style="border:0">`
  return result + html.slice(done, end) + image + html.slice(end)
}

/** Where a tag's `href` stands in the source, and the web page that it leads to; null: it leads to none. */
function linkIn({ attributes, attributesAt: at }: Extract<HtmlToken, { kind: 'open' }>): {
  readonly from: number
  readonly to: number
  readonly target: string
} | null {
  const span = attributeSpan(attributes, 'href')
  if (span === null || attributeOf(attributes, OPT_OUT).toLowerCase() === 'false') return null
  const target = targetOf(span.value)
  return target === null ? null : { from: at + span.from, to: at + span.to, target }
}

/** The web page that a raw attribute leads to; null: none, or none that is surely understood. */
function targetOf(raw: string): string | null {
  const href = decoded(raw.trim())
  if (href === null || !/^https?:\/\//i.test(href) || !URL.canParse(href)) return null
  const { href: target } = new URL(href)
  return target.length <= MAX_HREF ? target : null
}

/** Only references with their semicolon: in `?a=1&copy=2` there is none. */
function decoded(raw: string): string | null {
  let known = true
  const text = raw.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) {
        known &&= Object.hasOwn(REFERENCES, name)
        return REFERENCES[name] ?? whole
      }
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      known &&= code > 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      return known ? String.fromCodePoint(code) : whole
    },
  )
  return known ? text : null
}

function escaped(address: string): string {
  return address.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}
