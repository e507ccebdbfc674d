import type { Clock } from '../ports/clock.ts'

/** Timers that wake the dispatcher. */
export interface Wakes {
  /** Equal times share a timer. */
  in(ms: number): void
  /** Cancels pending timers: one of several hours would keep its closure in memory. */
  close(): void
}

export function createWakes(clock: Clock, available: () => void): Wakes {
  const cancels = new Map<number, () => void>()
  let closed = false
  return {
    in(ms) {
      const delayMs = Math.max(1, ms)
      const at = clock.monotonic() + delayMs
      if (closed || cancels.has(at)) return
      cancels.set(
        at,
        clock.timer(delayMs, () => {
          cancels.delete(at)
          available()
        }),
      )
    },
    close() {
      closed = true
      for (const cancel of cancels.values()) cancel()
      cancels.clear()
    },
  }
}
