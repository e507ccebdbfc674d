import type { Clock } from '../ports/clock.ts'

export function systemClock(): Clock {
  return {
    now: Date.now,
    monotonic: () => performance.now(),
    timer(delayMs, callback) {
      // setTimeout fires at once beyond 2^31 - 1 ms; a longer timer fires early, and its caller checks again.
      const timeout = setTimeout(callback, Math.min(delayMs, 0x7fffffff))
      timeout.unref()
      return () => clearTimeout(timeout)
    },
  }
}
