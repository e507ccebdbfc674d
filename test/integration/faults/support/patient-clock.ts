import type { Clock } from '../../../../src/ports/clock.ts'

/** A virtual clock that goes on only when everything which the time set off has ended, sockets included. */
export interface PatientClock extends Clock {
  advance(ms: number): Promise<void>
}

/** @param quiet resolves when nothing is under way */
export function patientClock(quiet: () => Promise<void>): PatientClock {
  const start = Date.UTC(2026, 10, 21)
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>()
  let elapsed = 0
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    timer(delayMs, callback) {
      const timer = { at: elapsed + Math.max(0, delayMs), callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async advance(ms) {
      const end = elapsed + ms
      for (;;) {
        await quiet()
        const [first] = [...timers].sort((a, b) => a.at - b.at)
        if (first === undefined || first.at > end) break
        timers.delete(first)
        elapsed = Math.max(elapsed, first.at)
        first.callback()
      }
      elapsed = end
      await quiet()
    },
  }
}
