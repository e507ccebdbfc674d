import { afterTurns, atEndOfTurn, endingTurn } from './end-of-turn.ts'

/** Passes items to a set-based operation, many at a time. */
export type Coalesced<Item, Answer> = (item: Item) => Promise<Answer>

export interface GroupOptions<Item> {
  /** Maximum weight of a set. A heavier item goes alone. @default 1000 */
  readonly maxWeight?: number
  /** @default 1 per item */
  readonly weigh?: (item: Item) => number
  /** Further turns of the event loop to gather for, see {@link afterTurns}. @default 0 */
  readonly turns?: number
}

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer | Promise<Answer>) => void
  readonly reject: (error: unknown) => void
}

/**
 * Joins concurrent calls of a set-based operation: calls of one turn of the event loop share a set, and calls during a
 * run share the next. An idle group adds no delay beyond the end of the turn.
 *
 * @param run gets at least one item and must return an answer for each, in order; a rejection reaches every caller of
 *   the set. A promise as an answer delays only its own caller.
 */
export function coalesce<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { maxWeight = 1_000, weigh = () => 1, turns = 0 }: GroupOptions<Item> = {},
): Coalesced<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  let busy = false
  let lastTurn = 0

  function take(): Waiting<Item, Answer>[] {
    let weight = 0
    let count = 0
    for (const { item } of waiting) {
      weight += weigh(item)
      if (count > 0 && weight > maxWeight) break
      count += 1
    }
    const set = waiting.slice(0, count)
    waiting = waiting.slice(count)
    return set
  }

  async function flush(): Promise<void> {
    lastTurn = endingTurn()
    const set = take()
    try {
      const answers = await run(set.map(({ item }) => item))
      if (answers.length !== set.length) throw new Error(`${answers.length} answers to ${set.length} items.`)
      for (const [index, { resolve }] of set.entries()) resolve(answers[index] as Answer | Promise<Answer>)
    } catch (error) {
      for (const { reject } of set) reject(error)
    }
    if (waiting.length > 0) later()
    else busy = false
  }

  function later(): void {
    afterTurns(turns, () => atEndOfTurn(flush, lastTurn))
  }

  return function group(item) {
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (busy) return
      busy = true
      later()
    })
  }
}
