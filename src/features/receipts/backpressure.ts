import type { Clock } from '../../core/ports/clock.ts'

/**
 * Gives sends priority over receipts at the storage: providers repeat their requests, users do not. Receipts are stored
 * in sets; after each set they wait until enough other items are stored, or for a multiple of the set's duration.
 * Without other work they do not wait.
 */
export interface Backpressure {
  /** Records the number of stored sends or ended attempts. */
  stored(items: number): void
  /** Resolves when the next set may be stored. */
  turn(): Promise<void> | null
  /** Records a stored set. */
  gone(items: number, tookMs: number): void
}

/** Sends per receipt: over HTTP a receipt costs about as much as three sends. */
const SENDS_EACH = 10
const WAIT_FACTOR = 8
const LONGEST_WAIT_MS = 500

export function createBackpressure(clock: Pick<Clock, 'timer'>): Backpressure {
  let wait: Promise<void> | null = null
  let endWait = (): void => {}
  /** Other items since the last set. */
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
