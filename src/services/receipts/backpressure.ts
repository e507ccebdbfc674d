import type { Clock } from '../../ports/clock.ts'

/**
 * Lets sends go before receipts where both want the storage: providers are patient and come again, users are not. Receipts
 * go in sets; after each they wait until enough of the others was stored, or some times as long as the set took. While
 * nobody else stores anything, they do not wait.
 */
export interface Backpressure {
  /** Sends, or ends of attempts, were stored: so many. */
  stored(items: number): void
  /** Resolves when the next set of receipts may go. */
  turn(): Promise<void> | null
  /** A set of receipts has gone. */
  gone(items: number, tookMs: number): void
}

/** So many sends for each receipt: over HTTP one costs about as much as three of them. */
const SENDS_EACH = 10
const WAIT_FACTOR = 8
const LONGEST_WAIT_MS = 500

export function createBackpressure(clock: Pick<Clock, 'timer'>): Backpressure {
  let wait: Promise<void> | null = null
  let endWait = (): void => {}
  /** Of the others, since the last set of receipts. */
  let stored = 0
  let wanted = 0

  return {
    stored(items) {
      stored += items
      if (wait !== null && stored >= wanted) endWait()
    },
    turn: () => wait,
    gone(items, tookMs) {
      const waitMs = stored === 0 ? 0 : Math.min(WAIT_FACTOR * tookMs, LONGEST_WAIT_MS)
      stored = 0
      if (waitMs < 1) return
      wanted = SENDS_EACH * items
      wait = new Promise((resolve) => {
        endWait = () => {
          cancel()
          wait = null
          resolve()
        }
        const cancel = clock.timer(waitMs, endWait)
      })
    },
  }
}
