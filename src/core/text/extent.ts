import { bytesOf } from '../input/bounds.ts'
import type { CatalogueMessage } from './language.ts'
import { childrenOf, type Token } from './parse.ts'

/** Maximum growth of an escaped character: `&quot;`, `\u0000`. */
const MOST_ESCAPED = 6
/** Maximum number of bytes of a UTF-16 unit. */
const BYTES_OF_A_CHARACTER = 3
/** Maximum length of a number or boolean as text. */
const LONGEST_NUMBER = 25

/** Reading this many characters of a value costs as much as a tag. */
export const CHARACTERS_OF_A_PIECE = 64

/** The output of one pass through a level of sections. */
interface Level {
  /** Bytes. */
  text: number
  values: number
  /** Values of messages. */
  inserted: number
  /** The pass itself and its pieces. */
  pieces: number
}

/** A text by levels: first the part outside sections, then the part that each of these repeats, and so on. */
export type Levels = readonly Level[]

export function levelsOf(tokens: readonly Token[], messages: Messages = new Map()): Levels {
  const levels: Level[] = []
  collect(tokens, 0, levels, messages)
  return levels
}

type Messages = ReadonlyMap<string, CatalogueMessage>

function collect(tokens: readonly Token[], depth: number, levels: Level[], messages: Messages): void {
  const level = levels[depth] ?? { text: 0, values: 0, inserted: 0, pieces: 0 }
  levels[depth] = level
  level.pieces += tokens.length + 1
  for (const token of tokens) {
    const [type, name] = token
    if (type === 'text') level.text += bytesOf(name)
    if (type === 'name' || type === '&') addValue(level, messages.get(name.slice(1)))
    if (type === '#') collect(childrenOf(token), depth + 1, levels, messages)
    if (type === '^' || type === '>') collect(childrenOf(token), depth, levels, messages)
  }
}

function addValue(level: Level, message: CatalogueMessage | undefined): void {
  if (message === undefined) {
    level.values += 1
    return
  }
  level.values += message.uses
  level.text += MOST_ESCAPED * BYTES_OF_A_CHARACTER * message.length
  level.inserted += message.args.length
  level.pieces += message.work
}

/** The longest text, in bytes, and the longest list among the values. */
interface Extent {
  readonly text: number
  readonly list: number
}

export function extentOf(value: unknown): Extent {
  if (typeof value === 'string') return { text: bytesOf(value), list: 1 }
  let text = LONGEST_NUMBER
  let list = Array.isArray(value) ? value.length : 1
  if (typeof value === 'object' && value !== null) {
    for (const inside of Object.values(value)) {
      const extent = extentOf(inside)
      text = Math.max(text, extent.text)
      list = Math.max(list, extent.list)
    }
  }
  return { text, list }
}

/** The cost of writing texts. */
export interface Work {
  /** UTF-16 units written. */
  characters: number
  /** Tags and texts, even if empty, one for each pass through a section, and the work of messages. */
  pieces: number
}

/** An upper bound for texts with values of an extent. The real size may be far smaller. */
export function boundOf(
  levels: Levels,
  { text, list }: Extent,
): { readonly bytes: number; readonly pieces: number } {
  let bytes = 0
  let pieces = 0
  let passes = 1
  for (const level of levels) {
    bytes += passes * (level.text + level.values * text * MOST_ESCAPED)
    pieces += passes * (level.pieces + level.inserted * (text / CHARACTERS_OF_A_PIECE))
    passes *= list
  }
  return { bytes, pieces }
}
