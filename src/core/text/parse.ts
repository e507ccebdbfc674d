import Mustache from 'mustache'
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
export interface SourceName {
  readonly field: string
  readonly owner: string
  /** Where the field is, for the details of errors, such as `locales.de.`. */
  readonly place?: string | undefined
}

const OPENING = /\{\{\s*([#^/>{&=!]?)\s*/y

/** A token as mustache returns it. `ofLine` of a partial: how many tags precede it on its line. */
type Span = [
  type: string,
  name: string,
  start: number,
  end: number,
  inside?: Span[] | string,
  ofLine?: number,
]

/**
 * Parses a source with mustache.js, in linear time: mustache makes a token of each character of a text, and reads white
 * space in a tag again from each of its characters. So it gets an outline, in which the text on a line is one
 * character, and tags have no names.
 *
 * @param most maximum number of tags
 * @throws NotifierError `invalid_parameter` for a malformed source
 */
export function parseSource(source: string, sourceName: SourceName, most?: number): Token[] {
  const tags = tagsIn(source, sourceName, most)
  assertNested(tags, sourceName)
  let outline = ''
  /** By position in the outline. */
  const outlined: Token[] = []

  function add(written: string, part: Token): void {
    outlined[outline.length] = part
    outline += written
  }

  function addText(start: number, end: number): void {
    const text = source.slice(start, end)
    const first = text.indexOf('\n')
    let from = 0
    // Lines without a tag stay unchanged, so one represents all of them.
    for (const to of [first, first + 1, text.lastIndexOf('\n') + 1, text.length]) {
      if (to <= from) continue
      add(outlineOf(text.slice(from, to)), ['text', '', start + from, end])
      from = to
    }
  }

  function original(level: readonly Span[]): Token[] {
    return level.map(([type, , from, to, inside, ofLine], index) => {
      const token = outlined[from] as Token
      if (type === 'text') {
        token[3] = outlined[to]?.[2] ?? source.length
        token[1] = source.slice(token[2], token[3])
      }
      if (Array.isArray(inside)) token[4] = original(inside)
      // mustache has removed the white space in front of a partial that is alone on its line.
      if (type === '>' && ofLine === 0 && level[index - 1]?.[3] !== from)
        token[5] = source.slice(source.lastIndexOf('\n', token[2]) + 1, token[2])
      return token
    })
  }

  let at = 0
  for (const tag of tags) {
    const [type, , start, end] = tag
    addText(at, start)
    add(type === 'name' ? '{{x}}' : `{{${type}x}}`, tag)
    at = end
  }
  addText(at, source.length)
  // A shared writer keeps every source, and the application may have changed the default delimiters.
  return original(new Mustache.Writer().parse(outline, ['{{', '}}']) as Span[])
}

function outlineOf(line: string): string {
  if (line.endsWith('\n')) return '\n'
  return line.trim() === '' ? ' ' : 'x'
}

/**
 * The tags of a source, in order.
 *
 * @param most maximum number of tags: each costs as much as a hundred characters
 * @throws NotifierError `invalid_parameter` for an unclosed tag, changed delimiters, or too many tags
 */
export function tagsIn(
  source: string,
  sourceName: SourceName,
  most: number = Number.POSITIVE_INFINITY,
): Token[] {
  const tags: Token[] = []
  for (let end = 0; ; ) {
    const start = source.indexOf('{{', end)
    if (start === -1) return tags
    if (tags.length >= most) {
      throw wrongText(
        sourceName,
        `has more than ${counted(most)} tags, which is the option "bounds.tags" of the service. Repeat text with a section, or write several templates`,
      )
    }
    OPENING.lastIndex = start
    const [opening, kind = ''] = OPENING.exec(source) ?? ['']
    const closing = kind === '{' ? '}}}' : '}}'
    const nameEnd = source.indexOf(closing, start + opening.length)
    if (kind === '=' || nameEnd === -1) throw wrongText(sourceName, tagFault(kind, start, closing))
    end = nameEnd + closing.length
    const name = source.slice(start + opening.length, nameEnd).trimEnd()
    tags.push([kind === '{' ? '&' : kind || 'name', name, start, end])
  }
}

function tagFault(kind: string, start: number, closing: string): string {
  if (kind === '=') return `sets other delimiters ("{{=") at ${start}. Carillon supports "{{" and "}}" only`
  return `has a tag at ${start} that is not closed with "${closing}"`
}

/** @throws NotifierError `invalid_parameter` for an unclosed or unopened section */
export function assertNested(tags: readonly Token[], sourceName: SourceName): void {
  const sections: Token[] = []
  for (const tag of tags) {
    const [type, name] = tag
    if (type === '#' || type === '^') sections.push(tag)
    if (type !== '/') continue
    const section = sections.pop()
    if (section?.[1] !== name) throw wrongText(sourceName, closingFault(tag, section))
  }
  const open = sections.pop()
  if (open !== undefined) {
    const name = shortName(open[1])
    throw wrongText(
      sourceName,
      `does not close the section "${name}" that opens at ${open[2]}: write {{/${name}}}`,
    )
  }
}

function closingFault([, name, start]: Token, section: Token | undefined): string {
  const closing = `closes the section "${shortName(name)}" at ${start}`
  if (section === undefined) return `${closing}, which is not open`
  return `${closing}, where "${shortName(section[1])}" from ${section[2]} is still open`
}

/** @param fault continues "The template's body" */
export function wrongText({ field, owner, place = '' }: SourceName, fault: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The ${owner}'s ${field} ${fault}.`,
    details: { field: `${place}${field}` },
  })
}

/** The content of a section or partial. Empty for other tokens. */
export function childrenOf({ 4: children }: Token): readonly Token[] {
  return children ?? []
}
