import type { Clock } from '../ports/clock.ts'

/** The runtime's own clock. */
export function systemClock(): Clock {
  return {
    now: Date.now,
    monotonic: () => performance.now(),
    timer(delayMs, callback) {
      // setTimeout fires at once beyond 2^31 - 1 ms; whoever waits longer is woken early and looks again.
      const timeout = setTimeout(callback, Math.min(delayMs, 0x7fffffff))
      timeout.unref()
      return () => clearTimeout(timeout)
    },
  }
}
