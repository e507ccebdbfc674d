import { attributeOf, attributeSpan, type HtmlToken, htmlTokens } from './html-tokens.ts'
import { createStepCounter, ITEM_CHARACTERS, type Steps } from './steps.ts'

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

/** The links of one mail that are counted; those behind them lead where they did before. */
export const MAX_TRACKED_LINKS = 1_000
/** To read the address of a link and to sign it costs about as much as so many characters of text. */
const LINK_CHARACTERS = 1_024

export interface TrackedHtml {
  readonly html: string
  /** False: the mail has more links than {@link MAX_TRACKED_LINKS}. */
  readonly complete: boolean
}

/**
 * HTML with its links and opening counted; the same for the same input. Touches only `href` of links that lead to a web
 * page, and adds one picture before the end of the body.
 */
export function* trackHtml(html: string, { pixel, click }: TrackedLinks): Steps<TrackedHtml> {
  const isStepFull = createStepCounter()
  const addressOf = addresses(click)
  let result = ''
  let done = 0
  let bodyEnd = html.length
  let links = 0
  for (const token of htmlTokens(html)) {
    if (isStepFull(ITEM_CHARACTERS)) yield
    bodyEnd = bodyEndAt(token) ?? bodyEnd
    if (links > MAX_TRACKED_LINKS || !isLink(token)) continue
    if (isStepFull(LINK_CHARACTERS)) yield
    const link = linkIn(token, addressOf)
    if (link === null) continue
    links += 1
    if (links > MAX_TRACKED_LINKS) continue
    result += `${html.slice(done, link.from)}href="${escaped(link.address)}"`
    done = link.to
  }
  const end = pixel === null ? html.length : Math.max(done, bodyEnd)
  const counted = result + html.slice(done, end) + imageOf(pixel) + html.slice(end)
  return { html: counted, complete: links <= MAX_TRACKED_LINKS }
}

function imageOf(pixel: string | null): string {
  return pixel === null ? '' : `<img src="${escaped(pixel)}" width="1" height="1" alt="" style="border:0">`
}

function bodyEndAt(token: HtmlToken): number | null {
  return token.kind === 'close' && token.name === 'body' ? token.at : null
}

type OpenTag = Extract<HtmlToken, { kind: 'open' }>

function isLink(token: HtmlToken): token is OpenTag {
  return token.kind === 'open' && LINKS.has(token.name)
}

/** Each address is made once: to sign it costs more than to find it. */
function addresses(click: TrackedLinks['click']): TrackedLinks['click'] {
  const known = new Map<string, string>()
  return (target) => {
    const address = known.get(target) ?? click(target)
    if (address !== null) known.set(target, address)
    return address
  }
}

/** Where a tag's `href` stands in the source, and the address in its place; null: the link stays as it is. */
function linkIn(
  { attributes, attributesAt: at }: OpenTag,
  addressOf: TrackedLinks['click'],
): { readonly from: number; readonly to: number; readonly address: string } | null {
  const span = attributeSpan(attributes, 'href')
  if (span === null || attributeOf(attributes, OPT_OUT).toLowerCase() === 'false') return null
  const target = targetOf(span.value)
  const address = target === null ? null : addressOf(target)
  return address === null ? null : { from: at + span.from, to: at + span.to, address }
}

/** The web page that a raw attribute leads to; null: none, or none that is surely understood. */
function targetOf(raw: string): string | null {
  const href = decoded(raw.trim())
  if (href === null || !/^https?:\/\//i.test(href)) return null
  const target = URL.parse(href)?.href
  return target !== undefined && target.length <= MAX_HREF ? target : null
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
