import type { Clock } from '../ports/clock.ts'

/** A clock that stands still until it is told to go on. */
export interface FakeClock extends Clock {
  /**
   * Lets time go by: timers fire in order, each at its own time, and what they start asynchronously may go on
   * before the next one fires.
   */
  advance(ms: number): Promise<void>
  /** Moves `now` alone, as a correction of the system's clock does; negative: back. */
  correct(ms: number): void
}

/**
 * @param start epoch milliseconds at the beginning. Default: an arbitrary time in 2026.
 * @param quiet resolves when nothing is under way that the next timer must wait for. Default: some turns of the event loop,
 *   which is enough in memory; where sockets or files take part, only the test knows.
 */
export function fakeClock(
  start: number = Date.UTC(2026, 0, 15, 12),
  quiet: () => Promise<void> = settled,
): FakeClock {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>()
  let elapsed = 0
  let wall = start

  function passTo(time: number): void {
    wall += time - elapsed
    elapsed = time
  }

  return {
    now: () => wall,
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
        passTo(first.at)
        first.callback()
      }
      passTo(end)
      await quiet()
    },
    correct(ms) {
      wall += ms
    },
  }
}

/** The engine gathers work over some turns of the loop: a claim, a start, a hand-over and an outcome, twice over, take fewer. */
const TURNS = 120

/** Lets promises, and what I/O has finished, go on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
