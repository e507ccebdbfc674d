import { NotifierError } from '../errors/notifier-error.ts'
import { shortName } from '../listed-names.ts'

/** A piece of a template in mustache's own form: the name of a tag or a text, its place, and the pieces of a section. */
export type Token = [type: string, name: string, start: number, end: number, children?: Token[]]

export type Field = 'subject' | 'body' | 'html' | 'text'

/** The types of tags by their first character; any other begins the name of a value. */
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
/** Most tags of a text: each takes the time and the memory of a hundred characters. */
const MAX_TAGS = 10_000

/**
 * Parses a source by mustache's rules. The time grows with the length alone, whatever the source is.
 *
 * @throws NotifierError `invalid_parameter` when the source is not well-formed
 */
export function parseSource(source: string, field: Field): Token[] {
  return nest(scan(source, field), field)
}

/**
 * Splits a source into its texts and tags, in order. A line with nothing but sections, comments and white space leaves no
 * text.
 *
 * @throws NotifierError `invalid_parameter` for a tag that is not closed or sets other delimiters, and for too many tags
 */
export function scan(source: string, field: Field): Token[] {
  const notSpace = /\S/g
  const tokens: Token[] = []
  /** The texts with a part on the current line. */
  let texts: Token[] = []
  let lineStart = 0
  let isBlank = true
  let hasTag = false
  let tags = 0
  /** The next line break, looked up once: a search from each text would read the rest of a long line each time. */
  let lineBreak = -1

  function skipSpace(at: number): number {
    const code = source.charCodeAt(at)
    // Most often there is none, and a regular expression costs more than all else here.
    if (code > 0x20 && code < 0x7f) return at
    notSpace.lastIndex = at
    return notSpace.test(source) ? notSpace.lastIndex - 1 : source.length
  }

  function endLine(end: number): void {
    if (isBlank && hasTag) {
      for (const text of texts) {
        if (text[2] < lineStart) text[3] = lineStart
        else text[2] = Math.min(end, text[3])
      }
    }
    texts = []
    lineStart = end
    isBlank = true
    hasTag = false
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
    // Lines without a tag are kept as they are, so of the others only the last can matter.
    lineStart = source.lastIndexOf('\n', end - 1) + 1
    texts.push(text)
    isBlank = skipSpace(lineStart) >= end
  }

  /** @returns where the tag ends */
  function addTag(start: number): number {
    tags += 1
    if (tags > MAX_TAGS) {
      throw wrongText(
        field,
        `has more than ${MAX_TAGS} tags. Repeat text with a section, or write several templates`,
      )
    }
    const at = skipSpace(start + 2)
    const kind = source[at] ?? ''
    const type = TYPES[kind] ?? 'name'
    const nameStart = type === 'name' ? at : skipSpace(at + 1)
    const closing = kind === '{' ? '}}}' : '}}'
    const nameEnd = source.indexOf(closing, nameStart)
    if (type === '=' || nameEnd === -1) throw wrongText(field, tagFault(type, start, closing))
    const end = nameEnd + closing.length
    tokens.push([type, source.slice(nameStart, nameEnd).trimEnd(), start, end])
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
  if (type === '=') return `sets other delimiters ("{{=") at ${start}. Carillon has "{{" and "}}" alone`
  return `has a tag at ${start} that is not closed with "${closing}"`
}

/**
 * Puts what is inside a section into its token.
 *
 * @throws NotifierError `invalid_parameter` for a section that is not closed, or not opened
 */
export function nest(tokens: readonly Token[], field: Field): Token[] {
  const outermost: Token[] = []
  const sections: Token[] = []
  let inside = outermost
  for (const token of tokens) {
    const [type, name] = token
    if (type === '/') {
      const section = sections.pop()
      if (section?.[1] !== name) throw wrongText(field, closingFault(token, section))
      inside = sections.at(-1)?.[4] ?? outermost
      continue
    }
    inside.push(token)
    if (type !== '#' && type !== '^') continue
    sections.push(token)
    inside = token[4] = []
  }
  const open = sections.at(-1)
  if (open !== undefined) {
    const name = shortName(open[1])
    throw wrongText(
      field,
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

/** @param fault reads on from "The template's body" */
export function wrongText(field: Field, fault: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The template's ${field} ${fault}.`,
    details: { field },
  })
}

/** The pieces of a section; none of any other token. */
export function childrenOf({ 4: children }: Token): readonly Token[] {
  return children ?? []
}
