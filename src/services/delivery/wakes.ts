import type { Clock } from '../../ports/clock.ts'

/** Timers for the times at which something may go. */
export interface Wakes {
  /** One timer for each time, whoever asks. */
  in(ms: number): void
  /** What is still to come wakes nobody: a provider may rest for hours, and its timer would keep all behind it in memory. */
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
