import { NotifierError } from '../errors/notifier-error.ts'
import { counted } from '../input/bounds.ts'
import { shortName } from '../input/listed-names.ts'

/** A token in mustache's form: type, name or text, position, and the content of a section or partial. */
export type Token = [
  type: string,
  name: string,
  start: number,
  end: number,
  children?: readonly Token[],
  /** White space in front of a partial alone on its line; each line of the partial gets it. */
  indentation?: string,
]

/** Where a source is written, for errors: `html` of a `layout`. */
export interface Place {
  readonly field: string
  readonly owner: string
}

/** Tag types by their first character; others are values. */
const TYPES: Readonly<Record<string, string>> = {
  '#': '#',
  '^': '^',
  '/': '/',
  '>': '>',
  '{': '&',
  '&': '&',
  '=': '=',
  '!': '!',
}
/**
 * Parses a source by mustache's rules, in linear time.
 *
 * @param most maximum number of tags
 * @throws NotifierError `invalid_parameter` for a malformed source
 */
export function parseSource(source: string, place: Place, most?: number): Token[] {
  return nest(scan(source, place, most), place)
}

/**
 * Splits a source into texts and tags, in order. A line with only sections, comments and white space produces no text.
 *
 * @param most maximum number of tags: each costs as much as a hundred characters
 * @throws NotifierError `invalid_parameter` for an unclosed tag, changed delimiters, or too many tags
 */
export function scan(source: string, place: Place, most: number = Number.POSITIVE_INFINITY): Token[] {
  const notSpace = /\S/g
  const tokens: Token[] = []
  /** The texts of the current line. */
  let texts: Token[] = []
  let lineStart = 0
  let isBlank = true
  let hasTag = false
  /** The partial with which the current line starts. */
  let partial: Token | null = null
  let tags = 0
  /** The next line break, cached: a search from each text would read a long line repeatedly. */
  let lineBreak = -1

  function skipSpace(at: number): number {
    const code = source.charCodeAt(at)
    // The common case, without the cost of a regular expression.
    if (code > 0x20 && code < 0x7f) return at
    notSpace.lastIndex = at
    return notSpace.test(source) ? notSpace.lastIndex - 1 : source.length
  }

  function endLine(end: number): void {
    if (isBlank && hasTag) {
      if (partial !== null) partial[5] = source.slice(lineStart, partial[2])
      for (const text of texts) {
        if (text[2] < lineStart) text[3] = lineStart
        else text[2] = Math.min(end, text[3])
      }
    }
    texts = []
    lineStart = end
    isBlank = true
    hasTag = false
    partial = null
  }

  function addText(start: number, end: number): void {
    const text: Token = ['text', '', start, end]
    tokens.push(text)
    texts.push(text)
    if (lineBreak < start) {
      const found = source.indexOf('\n', start)
      lineBreak = found === -1 ? source.length : found
    }
    if (skipSpace(start) < Math.min(lineBreak, end)) isBlank = false
    if (lineBreak >= end) return
    endLine(lineBreak + 1)
    // Lines without a tag stay unchanged, so only the last line matters.
    lineStart = source.lastIndexOf('\n', end - 1) + 1
    texts.push(text)
    isBlank = skipSpace(lineStart) >= end
  }

  /** @returns the end of the tag */
  function addTag(start: number): number {
    tags += 1
    if (tags > most) {
      throw wrongText(
        place,
        `has more than ${counted(most)} tags, which is the option "bounds.tags" of the service. Repeat text with a section, or write several templates`,
      )
    }
    const at = skipSpace(start + 2)
    const kind = source[at] ?? ''
    const type = TYPES[kind] ?? 'name'
    const nameStart = type === 'name' ? at : skipSpace(at + 1)
    const closing = kind === '{' ? '}}}' : '}}'
    const nameEnd = source.indexOf(closing, nameStart)
    if (type === '=' || nameEnd === -1) throw wrongText(place, tagFault(type, start, closing))
    const end = nameEnd + closing.length
    const token: Token = [type, source.slice(nameStart, nameEnd).trimEnd(), start, end]
    tokens.push(token)
    if (type === '>' && !hasTag) partial = token
    hasTag = true
    isBlank &&= type !== 'name' && type !== '&'
    return end
  }

  for (let at = 0; at < source.length; ) {
    const found = source.indexOf('{{', at)
    const start = found === -1 ? source.length : found
    if (start > at) addText(at, start)
    at = found === -1 ? start : addTag(start)
  }
  endLine(source.length)
  for (const token of tokens) if (token[0] === 'text') token[1] = source.slice(token[2], token[3])
  return tokens.filter(([type, text]) => type !== 'text' || text !== '')
}

function tagFault(type: string, start: number, closing: string): string {
  if (type === '=') return `sets other delimiters ("{{=") at ${start}. Carillon supports "{{" and "}}" only`
  return `has a tag at ${start} that is not closed with "${closing}"`
}

/**
 * Moves the content of sections into their tokens.
 *
 * @throws NotifierError `invalid_parameter` for an unclosed or unopened section
 */
export function nest(tokens: readonly Token[], place: Place): Token[] {
  const outermost: Token[] = []
  const sections: { readonly token: Token; readonly around: Token[] }[] = []
  let inside = outermost
  for (const token of tokens) {
    const [type, name] = token
    if (type === '/') {
      const section = sections.pop()
      if (section?.token[1] !== name) throw wrongText(place, closingFault(token, section?.token))
      inside = section.around
      continue
    }
    inside.push(token)
    if (type !== '#' && type !== '^') continue
    sections.push({ token, around: inside })
    inside = []
    token[4] = inside
  }
  const open = sections.at(-1)?.token
  if (open !== undefined) {
    const name = shortName(open[1])
    throw wrongText(
      place,
      `does not close the section "${name}" that opens at ${open[2]}: write {{/${name}}}`,
    )
  }
  return outermost
}

function closingFault([, name, start]: Token, section: Token | undefined): string {
  const closing = `closes the section "${shortName(name)}" at ${start}`
  if (section === undefined) return `${closing}, which is not open`
  return `${closing}, where "${shortName(section[1])}" from ${section[2]} is still open`
}

/** @param fault continues "The template's body" */
export function wrongText({ field, owner }: Place, fault: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The ${owner}'s ${field} ${fault}.`,
    details: { field },
  })
}

/** The content of a section or partial. Empty for other tokens. */
export function childrenOf({ 4: children }: Token): readonly Token[] {
  return children ?? []
}
