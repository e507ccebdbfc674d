/** A piece of HTML. Names are lower-case; attribute values are raw. */
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
  const next = end === -1 ? html.length : end
  return { token: { kind: 'text', text: html.slice(at, next) }, next }
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

/** Position of the `>` that ends a tag; those inside quoted values do not count. */
function tagEnd(html: string, at: number): number {
  let quote = ''
  let isValueNext = false
  for (let index = at + 1; index < html.length; index += 1) {
    const character = html.charAt(index)
    if (quote !== '') {
      if (character === quote) quote = ''
      continue
    }
    if (character === '>') return index
    if (isValueNext && (character === '"' || character === "'")) quote = character
    isValueNext = character === '=' || (isValueNext && /\s/.test(character))
  }
  return html.length
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
const ATTRIBUTE = /([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*))?)?|./gsy

/** The raw value of an attribute; empty when it is absent. */
export function attributeOf(attributes: string, name: string): string {
  for (const [, key, double, single, bare] of attributes.matchAll(ATTRIBUTE)) {
    if (key?.toLowerCase() === name) return double ?? single ?? bare ?? ''
  }
  return ''
}

/** Where an attribute stands among the others, with its raw value; null when it is absent. */
export function attributeSpan(
  attributes: string,
  name: string,
): { readonly from: number; readonly to: number; readonly value: string } | null {
  for (const match of attributes.matchAll(ATTRIBUTE)) {
    const [whole, key, double, single, bare] = match
    if (key?.toLowerCase() !== name) continue
    return { from: match.index, to: match.index + whole.length, value: double ?? single ?? bare ?? '' }
  }
  return null
}
