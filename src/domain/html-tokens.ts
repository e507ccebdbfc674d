import { cutBefore, STEP_CHARACTERS } from './steps.ts'

/** A piece of HTML; of a long text there are several in a row. Names are lower-case; attribute values are raw. */
export type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'open'
      readonly name: string
      readonly attributes: string
      /** Where the attributes begin in the source. */
      readonly attributesAt: number
    }
  | {
      readonly kind: 'close'
      readonly name: string
      /** Where the tag begins in the source. */
      readonly at: number
    }

/** Elements whose content is not for readers. */
const UNREAD: ReadonlySet<string> = new Set([
  'script',
  'style',
  'title',
  'template',
  'svg',
  'object',
  'select',
])

/**
 * Cuts HTML into text and tags, tolerantly: what is no tag is text, what is never closed reaches to the end.
 * One pass, in time that grows with the length of the source.
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

/** The longest character reference that is understood. */
const REFERENCE_LENGTH = 40

/** A place at `at`, or a little before, that is not within a character, a character reference or the end of a line. */
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
  // The only one of them that is not HTML itself: elements of HTML are not closed by a slash.
  return tag.name !== 'svg' || !tag.attributes.endsWith('/')
}

function afterDeclaration(html: string, at: number): number {
  // `--!>` ends a comment too, but not the one that it begins (HTML, "comment end bang state").
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

/** Position of the `>` that ends a tag; those inside quoted values do not count. */
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

/** @param at where the tag begins */
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

// Takes something at every position, so that no source makes it look at the same characters again and again.
const ATTRIBUTE = /([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*))?)?|[\s=/"'<>]+/gy
/** Of one tag: what stands behind so many attributes, and what separates them, is not read. */
const MOST_ATTRIBUTES = 1_000

/** The raw value of an attribute; empty when it is absent. */
export function attributeOf(attributes: string, name: string): string {
  return attributeSpan(attributes, name)?.value ?? ''
}

/** Where an attribute stands among the others, with its raw value; null when it is absent. */
export function attributeSpan(
  attributes: string,
  name: string,
): { readonly from: number; readonly to: number; readonly value: string } | null {
  ATTRIBUTE.lastIndex = 0
  for (let read = 0; read <= 2 * MOST_ATTRIBUTES; read += 1) {
    const match = ATTRIBUTE.exec(attributes)
    if (match === null) break
    const [whole, key, double, single, bare] = match
    if (key?.toLowerCase() !== name) continue
    return { from: match.index, to: match.index + whole.length, value: double ?? single ?? bare ?? '' }
  }
  return null
}
