import { STEP_CHARACTERS, type Steps } from '../core/loop/steps.ts'

export interface JsonLimits {
  /** Most values and names of one list item, and of the document without its items. */
  readonly values: number
  /** Most values and names of the whole document. */
  readonly total: number
  /** Deepest nesting. */
  readonly depth: number
}

/** Nesting of an item: the outermost object, a list, the item. */
const ITEM_DEPTH = 3

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const LIST = 0x5b
const END_OF_LIST = 0x5d
const OBJECT = 0x7b
const END_OF_OBJECT = 0x7d

/** False: the JSON text has at most `values` values and names. Punctuation inside texts counts too. */
export function mayExceed(bytes: Uint8Array, values: number): boolean {
  if (bytes.length <= values) return false
  let left = values
  for (let at = 0; at < bytes.length && left >= 0; at += 1) {
    const byte = bytes[at]
    // Every value except the outermost follows an opening bracket or a comma. Every name has a colon.
    if (byte === COMMA || byte === COLON || byte === LIST || byte === OBJECT) left -= 1
  }
  return left < 0
}

/**
 * Parses the items of the lists in the outermost object one by one, in steps. The limit of bytes cannot replace this: a batch
 * of 10,000 messages with contents takes 16 MiB, which `JSON.parse` reads in 16 ms, but in 2 to 5 s if all names differ, and
 * in 120 ms even 1 MiB of those.
 *
 * @returns the result of `JSON.parse`
 * @throws SyntaxError, and the errors of `refuse` before any parsing
 */
export function* parseIncrementally(
  text: string,
  limits: JsonLimits,
  refuse: (limit: keyof JsonLimits) => never,
): Steps<unknown> {
  const { frame, items } = yield* splitItems(text, limits, refuse)
  const root: unknown = JSON.parse(frame)
  const parsed: unknown[] = []
  for (const [from, to] of items) {
    yield
    parsed.push(JSON.parse(text.slice(from, to)))
  }
  for (const list of Object.values(root ?? {})) {
    if (!Array.isArray(list)) continue
    for (const [index, place] of list.entries()) if (Array.isArray(place)) list[index] = parsed[place[0]]
  }
  return root
}

interface Split {
  /** The text with `[n]` instead of its n-th item. It holds no other nested list. */
  readonly frame: string
  readonly items: readonly (readonly [from: number, to: number])[]
}

/** Finds the items that are objects or lists. Invalid JSON stays invalid in the frame or in an item. */
function* splitItems(
  text: string,
  limits: JsonLimits,
  refuse: (limit: keyof JsonLimits) => never,
): Steps<Split> {
  const items: [number, number][] = []
  let frame = ''
  let done = 0
  let depth = 0
  let inList = false
  let ofFrame = 0
  let ofItem = 0
  let total = 0

  function count(): void {
    total += 1
    if (total > limits.total) refuse('total')
    if (inList && depth >= ITEM_DEPTH) ofItem += 1
    else ofFrame += 1
    if (ofItem > limits.values || ofFrame > limits.values) refuse('values')
  }

  function open(at: number, code: number): void {
    count()
    depth += 1
    if (depth > limits.depth) refuse('depth')
    if (depth === ITEM_DEPTH - 1) inList = code === LIST
    if (depth !== ITEM_DEPTH || !inList) return
    frame += `${text.slice(done, at)}[${items.length}]`
    done = at
    ofItem = 0
  }

  function close(at: number): void {
    if (depth === ITEM_DEPTH && inList) {
      items.push([done, at + 1])
      done = at + 1
    }
    depth -= 1
  }

  let stepEnd = STEP_CHARACTERS
  for (let at = 0; at < text.length; at += 1) {
    if (at >= stepEnd) {
      stepEnd = at + STEP_CHARACTERS
      yield
    }
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === COMMA || code === COLON) count()
    else if (code === LIST || code === OBJECT) open(at, code)
    else if (code === END_OF_LIST || code === END_OF_OBJECT) close(at)
  }
  return { frame: frame + text.slice(done), items }
}

/** @returns the end of the text whose opening quote is at `from` */
function endOfText(text: string, from: number): number {
  for (let end = from; ; ) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end
  }
}
