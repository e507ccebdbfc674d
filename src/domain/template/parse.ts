import Mustache from 'mustache'
import { NotifierError } from '../errors/notifier-error.ts'

/** As mustache has it: a name with its place in the source, and of a section what is inside. */
export type Token = [
  type: string,
  name: string,
  start: number,
  end: number,
  children?: Token[],
  ...rest: unknown[],
]

const parser = new Mustache.Writer()
// mustache remembers every source it has seen, for ever; we keep the compiled form ourselves.
Object.assign(parser, { templateCache: undefined })

/** @throws NotifierError `invalid_parameter` when the source is not well-formed */
export function parseSource(source: string, field: 'subject' | 'body'): Token[] {
  try {
    return partsOf(source, parser.parse(source) as Token[])
  } catch (cause) {
    throw new NotifierError('invalid_parameter', {
      message: `The template's ${field} is not well-formed: ${cause instanceof Error ? cause.message : String(cause)}.`,
      details: { field },
      cause,
    })
  }
}

/** mustache puts texts together from single characters, which take thirty times the memory of a part of the source. */
function partsOf(source: string, tokens: Token[]): Token[] {
  const levels = [tokens]
  for (const level of levels) {
    for (const token of level) {
      if (token[0] === 'text') token[1] = source.slice(token[2], token[3])
      if (Array.isArray(token[4])) levels.push(token[4])
    }
  }
  return tokens
}

/** What is inside of a token; nothing, unless it is a section. */
export function childrenOf({ 4: children }: Token): readonly Token[] {
  // Of a partial something else stands there.
  return Array.isArray(children) ? children : []
}
