import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { Clock } from '../ports/clock.ts'

/** A clock that stands still until it is told to go on. */
export interface FakeClock extends Clock {
  /**
   * Lets time go by: timers fire in order, each at its own time, and what they start asynchronously may go on
   * before the next one fires.
   */
  advance(ms: number): Promise<void>
  /**
   * Lets time go by, from timer to timer, until `done` answers something true, which it resolves with.
   *
   * @param limitMs how long at most. Default: 30 days.
   * @param withinMs how long at most in real time. Default 30 000.
   * @throws Error when it is not reached within a limit, or nothing is left to wait for; it tells how far time has gone
   */
  until<Value>(
    done: () => Value | Promise<Value>,
    limitMs?: number,
    withinMs?: number,
  ): Promise<NonNullable<Value>>
  /** Moves `now` alone, as a correction of the system's clock does; negative: back. */
  correct(ms: number): void
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000
const REAL_MS = 30_000

/**
 * @param start epoch milliseconds at the beginning. Default: an arbitrary time in 2026.
 * @param quiet resolves when nothing is under way that the next timer must wait for. Default: some turns of the event loop,
 *   which is enough in memory; where sockets or files take part, only the test knows.
 * @throws NotifierError `invalid_configuration` for a start that is no such number
 */
export function fakeClock(
  start: number = Date.UTC(2026, 0, 15, 12),
  quiet: () => Promise<void> = settled,
): FakeClock {
  if (!Number.isFinite(start)) {
    throw new NotifierError('invalid_configuration', {
      message:
        'fakeClock: "start" must be milliseconds since 1970, as Date.UTC(2026, 0, 15) or Date.parse(text) gives them.',
      details: { option: 'start' },
    })
  }
  const timers = new Set<Timer>()
  let elapsed = 0
  let wall = start

  function passTo(time: number): void {
    wall += time - elapsed
    elapsed = time
  }

  /** Of those that are due at the same time the one that was set first. */
  function first(): Timer | undefined {
    let found: Timer | undefined
    for (const timer of timers) if (found === undefined || timer.at < found.at) found = timer
    return found
  }

  /** Fires the next timer if it is due by then. */
  function fireBy(end: number): boolean {
    const timer = first()
    if (timer === undefined || timer.at > end) return false
    timers.delete(timer)
    passTo(timer.at)
    timer.callback()
    return true
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
      do await quiet()
      while (fireBy(end))
      passTo(end)
      await quiet()
    },
    async until(done, limitMs = THIRTY_DAYS_MS, withinMs = REAL_MS) {
      const [began, realEnd] = [elapsed, performance.now() + withinMs]
      const end = began + limitMs
      do {
        if (performance.now() > realEnd) {
          throw new Error(
            `Not reached within ${withinMs} ms of real time: ${elapsed - began} ms have gone by, and ${timers.size} timers wait.`,
          )
        }
        await quiet()
        const value = await done()
        if (value) return value
      } while (fireBy(end))
      throw new Error(
        `Not reached within ${limitMs} ms: ${elapsed - began} ms have gone by, and ${timers.size} timers wait.`,
      )
    },
    correct(ms) {
      wall += ms
    },
  }
}

/** The engine gathers work over some turns of the loop: a claim, a start, a hand-over and an outcome, twice over, take fewer. */
const TURNS = 120

/** Lets promises, and what I/O has finished, go on. @internal */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
