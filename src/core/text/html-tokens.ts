import { cutBefore, STEP_CHARACTERS } from '../loop/steps.ts'

/** A piece of HTML; long text is several pieces. Names are lower-case, attribute values raw. */
export type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'open'
      readonly name: string
      readonly attributes: string
      /** Start of the attributes in the source. */
      readonly attributesAt: number
    }
  | {
      readonly kind: 'close'
      readonly name: string
      /** Start of the tag in the source. */
      readonly at: number
    }

/** Elements whose content is invisible. Only their start tag is a token. */
export const UNREAD: ReadonlySet<string> = new Set([
  'script',
  'style',
  'title',
  'template',
  'svg',
  'object',
  'select',
])

/**
 * Splits HTML into text and tags. Tolerant: invalid tags are text, unclosed ones reach to the end. One pass, in linear
 * time.
 *
 * It does less than htmlparser2, and two things that need own code: tags keep their positions in the source, so that
 * tracking rewrites links and leaves all other bytes of a page as they are; and a caller can stop after each token, so
 * that a page of megabytes never blocks other messages.
 */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0
  while (at < html.length) {
    const { token, next } =
      html.charAt(at) === '<' ? markup(html, at) : plain(html, at, html.indexOf('<', at))
    if (token !== null) yield token
    at = next
  }
}

interface Step {
  readonly token: HtmlToken | null
  readonly next: number
}

function plain(html: string, at: number, end: number): Step {
  const whole = end === -1 ? html.length : end
  const next = whole - at <= STEP_CHARACTERS ? whole : cutText(html, at + STEP_CHARACTERS)
  return { token: { kind: 'text', text: html.slice(at, next) }, next }
}

/** Maximum length of a character reference. */
const REFERENCE_LENGTH = 40

/** The position `at`, or a little before, that does not split a character, a character reference or a CRLF. */
function cutText(html: string, at: number): number {
  const reference = html.slice(at - REFERENCE_LENGTH, at).lastIndexOf('&')
  return reference === -1 ? cutBefore(html, at) : at - REFERENCE_LENGTH + reference
}

function markup(html: string, at: number): Step {
  const first = html.charAt(at + 1)
  if (first === '!' || first === '?') return { token: null, next: afterDeclaration(html, at) }
  if (!/[a-z/]/i.test(first)) return plain(html, at, at + 1)
  const end = tagEnd(html, at)
  const token = readTag(html.slice(at + 1, end), at)
  return { token, next: isUnread(token) ? afterElement(html, token.name, end + 1) : end + 1 }
}

function isUnread(tag: HtmlToken | null): tag is HtmlToken & { readonly kind: 'open' } {
  if (tag?.kind !== 'open' || !UNREAD.has(tag.name)) return false
  // The only foreign element among them: a slash does not close HTML elements.
  return tag.name !== 'svg' || !tag.attributes.endsWith('/')
}

function afterDeclaration(html: string, at: number): number {
  // `--!>` also ends a comment, unless it follows its start directly (HTML, "comment end bang state").
  const end = html.startsWith('<!--', at) ? /-->|(?<!<!)--!>/g : />/g
  end.lastIndex = at
  return end.exec(html) === null ? html.length : end.lastIndex
}

function afterElement(html: string, name: string, at: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  end.lastIndex = at
  const found = end.exec(html)
  return found === null ? html.length : Math.min(tagEnd(html, found.index) + 1, html.length)
}

const GREATER = 0x3e
const EQUALS = 0x3d
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27

/** Position of the `>` that ends a tag, ignoring quoted values. */
function tagEnd(html: string, at: number): number {
  let isValueNext = false
  for (let index = at + 1; index < html.length; index += 1) {
    const code = html.charCodeAt(index)
    if (code === GREATER) return index
    if (isValueNext && (code === DOUBLE_QUOTE || code === SINGLE_QUOTE)) {
      index = html.indexOf(html.charAt(index), index + 1)
      if (index === -1) return html.length
      isValueNext = false
    } else isValueNext = code === EQUALS || (isValueNext && isSpace(code))
  }
  return html.length
}

function isSpace(code: number): boolean {
  return (
    code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code > 0x7f && /\s/.test(String.fromCharCode(code)))
  )
}

/** @param at start of the tag */
function readTag(source: string, at: number): HtmlToken | null {
  const parts = /^(\/?)([a-z][a-z0-9:-]*)/i.exec(source)
  if (parts === null) return null
  const name = (parts[2] ?? '').toLowerCase()
  return parts[1] === '/'
    ? { kind: 'close', name, at }
    : {
        kind: 'open',
        name,
        attributes: source.slice(parts[0].length),
        attributesAt: at + 1 + parts[0].length,
      }
}

// Matches at every position, so that no source is scanned repeatedly.
const ATTRIBUTE = /([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*))?)?|[\s=/"'<>]+/gy
/** Maximum number of attributes and separators per tag; the rest is ignored. */
const MOST_ATTRIBUTES = 1_000

/** The raw value of an attribute. Empty: absent. */
export function attributeOf(attributes: string, name: string): string {
  return attributeSpan(attributes, name)?.value ?? ''
}

/** Where an attribute is, and its raw value. */
interface AttributeSpan {
  readonly from: number
  readonly to: number
  readonly value: string
}

/** Position and raw value of an attribute. Null: absent. */
export function attributeSpan(attributes: string, name: string): AttributeSpan | null {
  return attributeSpans(attributes, new Set([name])).get(name) ?? null
}

/** The first of each of these attributes, found in one pass. */
export function attributeSpans(
  attributes: string,
  names: ReadonlySet<string>,
): ReadonlyMap<string, AttributeSpan> {
  const spans = new Map<string, AttributeSpan>()
  ATTRIBUTE.lastIndex = 0
  for (let read = 0; read <= 2 * MOST_ATTRIBUTES && spans.size < names.size; read += 1) {
    const match = ATTRIBUTE.exec(attributes)
    if (match === null) break
    const [whole, written, double, single, bare] = match
    const name = written?.toLowerCase() ?? ''
    if (!names.has(name) || spans.has(name)) continue
    const value = double ?? single ?? bare ?? ''
    spans.set(name, { from: match.index, to: match.index + whole.length, value })
  }
  return spans
}
