import type { Clock } from '../../ports/clock.ts'

/**
 * Lets sends go before receipts where both want the storage: providers are patient and come again, users are not. Receipts
 * go in sets; after each they rest until enough of the others was stored, or some times as long as the set took. While
 * nobody else stores anything, they do not rest.
 */
export interface GiveWay {
  /** Sends, or ends of attempts, were stored: so many. */
  stored(items: number): void
  /** Resolves when the next set of receipts may go. */
  turn(): Promise<void> | null
  /** A set of receipts has gone. */
  gone(items: number, tookMs: number): void
}

/** So many sends for each receipt: over HTTP one costs about as much as three of them. */
const SENDS_EACH = 10
const REST_FACTOR = 8
const LONGEST_REST_MS = 500

export function createGiveWay(clock: Pick<Clock, 'timer'>): GiveWay {
  let rest: Promise<void> | null = null
  let endRest = (): void => {}
  /** Of the others, since the last set of receipts. */
  let stored = 0
  let wanted = 0

  return {
    stored(items) {
      stored += items
      if (rest !== null && stored >= wanted) endRest()
    },
    turn: () => rest,
    gone(items, tookMs) {
      const restMs = stored === 0 ? 0 : Math.min(REST_FACTOR * tookMs, LONGEST_REST_MS)
      stored = 0
      if (restMs < 1) return
      wanted = SENDS_EACH * items
      rest = new Promise((resolve) => {
        endRest = () => {
          cancel()
          rest = null
          resolve()
        }
        const cancel = clock.timer(restMs, endRest)
      })
    },
  }
}
