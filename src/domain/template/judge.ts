import { NotifierError } from '../errors/notifier-error.ts'
import { childrenOf, parseSource, type Token } from './parse.ts'

/** Deepest nesting of sections. */
const MAX_DEPTH = 20

/** Names joined by dots, without what only a language with filters or helpers would have in a tag. */
const PATH = /^[^\s{}|()"=.]+(?:\.[^\s{}|()"=.]+)*$/

/** Longest name: it is taken apart at its dots each time that it is looked up, which a list does very often. */
const MAX_NAME = 200

const OPENING = /\{\{\s*([{=]?)/g
const LONG_SPACE = /\s{200}/

/**
 * Judges what is written for a template. Only its author is told: what is stored is rendered, whatever it says.
 *
 * @throws NotifierError `invalid_parameter` when the source is not well-formed, nests too deep, or has a tag that no
 *   value could serve
 */
export function assertTemplateText(written: {
  readonly subject?: string | null | undefined
  readonly body?: string | undefined
}): void {
  for (const field of ['body', 'subject'] as const) {
    const source = written[field]
    if (source == null) continue
    assertQuick(source, field)
    judge(parseSource(source, field), field, 0, false)
  }
}

/**
 * Refuses what mustache would need the square of its length for, which would stop the whole process: white space in a tag
 * is looked through again from each of its characters, and all that follows from each tag with other delimiters.
 */
function assertQuick(source: string, field: string): void {
  for (let at = 0; ; ) {
    OPENING.lastIndex = at
    const opening = OPENING.exec(source)
    if (opening === null) return
    const [, kind] = opening
    if (kind === '=') throw wrongText(field, 'uses other delimiters, which is not supported')
    const closing = kind === '{' ? '}}}' : '}}'
    const from = OPENING.lastIndex
    const end = source.indexOf(closing, from)
    if (LONG_SPACE.test(end === -1 ? source.slice(from) : source.slice(from, end))) {
      throw wrongText(field, `has 200 white spaces in a row in the tag at ${opening.index}`)
    }
    if (end === -1) return
    at = end + closing.length
  }
}

function judge(tokens: readonly Token[], field: string, depth: number, hasItem: boolean): void {
  for (const token of tokens) {
    const fault = tagFault(token, depth, hasItem)
    if (fault !== null) throw wrongText(field, fault)
    judge(childrenOf(token), field, depth + 1, hasItem || token[0] === '#')
  }
}

function wrongText(field: string, fault: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The template's ${field} ${fault}.`,
    details: { field },
  })
}

function tagFault([type, name, start]: Token, depth: number, hasItem: boolean): string | null {
  switch (type) {
    case '>':
      return 'uses a partial, which is not supported'
    case '#':
    case '^':
      if (depth >= MAX_DEPTH) return `nests sections deeper than ${MAX_DEPTH}`
      return name === '.' ? null : nameFault(name, start)
    case 'name':
    case '&':
      if (name !== '.') return nameFault(name, start)
      return hasItem
        ? null
        : `has the tag "." at ${start}, which stands for the item of a section, outside of one`
    default:
      return null
  }
}

function nameFault(name: string, start: number): string | null {
  if (name.length > MAX_NAME) return `has a name of more than ${MAX_NAME} characters in the tag at ${start}`
  if (PATH.test(name)) return null
  return `has the tag "${name.slice(0, 50)}" at ${start}, which is no name: mustache has no filters or helpers`
}
