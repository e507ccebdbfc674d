import { invalidOption } from '../core/errors/invalid-option.ts'
import type { Clock } from '../core/ports/clock.ts'

/** A clock that moves only on demand. */
export interface FakeClock extends Clock {
  /**
   * Advances the time. Timers fire in order, each at its own time; the asynchronous work they start continues before
   * the next one fires.
   */
  advance(ms: number): Promise<void>
  /**
   * Advances the time from timer to timer until `done` returns a truthy value, and resolves with that.
   *
   * @param limitMs maximum time to advance, in milliseconds. Default: 30 days.
   * @param withinMs maximum real time in milliseconds. Default 30 000.
   * @throws Error if a limit is reached or no timer is left; contains the time advanced
   */
  until<Value>(
    done: () => Value | Promise<Value>,
    limitMs?: number,
    withinMs?: number,
  ): Promise<NonNullable<Value>>
  /** Moves `now` only, like a correction of the system's clock. Negative: back. */
  correct(ms: number): void
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000
const REAL_MS = 30_000

/**
 * A clock for tests that moves only on demand. Timers fire in order while the test advances it.
 *
 * @param start epoch milliseconds. Default: a fixed time in 2026.
 * @param quiet resolves when the next timer may fire. Default: after some turns of the event loop, which suffices in
 *   memory; with sockets or files only the test knows.
 * @throws NotifierError `invalid_configuration` if `start` is not such a number
 *
 * @example
 * const clock = fakeClock()
 * const notifier = createNotifier({ channels: { email: provider }, clock })
 * await clock.advance(60 * 60 * 1000)
 */
export function fakeClock(
  start: number = Date.UTC(2026, 0, 15, 12),
  quiet: () => Promise<void> = settled,
): FakeClock {
  if (!Number.isFinite(start)) {
    const expected = 'milliseconds since 1970, as Date.UTC(2026, 0, 15) or Date.parse(text) gives them'
    throw invalidOption('start', `fakeClock: "start" must be ${expected}.`)
  }
  const timers = new Set<Timer>()
  let elapsed = 0
  let wall = start

  function passTo(time: number): void {
    wall += time - elapsed
    elapsed = time
  }

  /** Of timers due at the same time, the one that was set first. */
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

/**
 * The engine gathers work over several turns of the event loop: this exceeds a claim, start, hand-over and outcome,
 * twice over.
 */
const TURNS = 120

/** Lets promises and finished I/O continue. @internal */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
