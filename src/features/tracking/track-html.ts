import type { TrackedHtml } from '../../core/links/tracking.ts'
import { createStepCounter, ITEM_CHARACTERS, type Steps } from '../../core/loop/steps.ts'
import { attributeOf, attributeSpan, type HtmlToken, htmlTokens } from '../../core/text/html-tokens.ts'

/** The addresses for tracking. */
export interface TrackedLinks {
  /** Null: opens are not tracked. */
  readonly pixel: string | null
  /** The tracking address of a link. Null: the link stays unchanged. */
  click(href: string): string | null
}

/** A link with this attribute set to `false` stays unchanged. */
const OPT_OUT = 'data-carillon-track'
const LINKS: ReadonlySet<string> = new Set(['a', 'area'])
/** A tracking address must fit into a request line, signed and encoded. */
const MAX_HREF = 2_000
const REFERENCES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/** Reading and signing a link costs as much as this many characters of text. */
const LINK_CHARACTERS = 1_024

/**
 * Adds tracking to HTML, deterministically. Changes only the `href` of links to web pages, and adds one picture at the
 * end of the body.
 *
 * @param most maximum number of links; further ones stay unchanged
 */
export function* trackHtml(html: string, { pixel, click }: TrackedLinks, most: number): Steps<TrackedHtml> {
  const isStepFull = createStepCounter()
  const addressOf = addresses(click)
  let result = ''
  let done = 0
  let bodyEnd = html.length
  let links = 0
  for (const token of htmlTokens(html)) {
    if (isStepFull(ITEM_CHARACTERS)) yield
    bodyEnd = bodyEndAt(token) ?? bodyEnd
    if (links > most || !isLink(token)) continue
    if (isStepFull(LINK_CHARACTERS)) yield
    const link = linkIn(token, addressOf)
    if (link === null) continue
    links += 1
    if (links > most) continue
    result += `${html.slice(done, link.from)}href="${escaped(link.address)}"`
    done = link.to
  }
  const end = pixel === null ? html.length : Math.max(done, bodyEnd)
  const counted = result + html.slice(done, end) + imageOf(pixel) + html.slice(end)
  return { html: counted, complete: links <= most }
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

/** Caches addresses: signing is the expensive part. */
function addresses(click: TrackedLinks['click']): TrackedLinks['click'] {
  const known = new Map<string, string>()
  return (target) => {
    const address = known.get(target) ?? click(target)
    if (address !== null) known.set(target, address)
    return address
  }
}

/** The position of a tag's `href` and its new address. Null: the link stays unchanged. */
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

/** The web page of a raw attribute. Null: none, or an ambiguous one. */
function targetOf(raw: string): string | null {
  const href = decoded(raw.trim())
  if (href === null || !/^https?:\/\//i.test(href)) return null
  const target = URL.parse(href)?.href
  return target !== undefined && target.length <= MAX_HREF ? target : null
}

/** Only references with a semicolon: `?a=1&copy=2` contains none. */
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
