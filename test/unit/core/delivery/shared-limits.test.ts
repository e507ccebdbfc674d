import { expect, it } from 'vitest'
import { paceCheck, pauseCheck } from '../../../../src/core/delivery/provider-limits.ts'
import { createSharedLimits } from '../../../../src/core/delivery/shared-limits.ts'
import { memoryRateLimiter } from '../../../../src/core/limits/memory-rate-limiter.ts'
import type { Clock } from '../../../../src/core/ports/clock.ts'
import type { LimitCheck, LimitDecision, RateLimiter } from '../../../../src/core/ports/rate-limiter.ts'
import { fakeClock, settled } from '../../../../src/testing/fake-clock.ts'

const gone = (): Promise<never> => Promise.reject(new Error('Gone.'))
const AWAY: Partial<RateLimiter> = { consume: gone, peek: gone, pause: gone, release: gone }

/** What processes share, as one of them sees it. */
function create(shared: Partial<RateLimiter> = {}, clockOf: (clock: Clock) => Clock = (clock) => clock) {
  const clock = fakeClock()
  const local = memoryRateLimiter({ clock })
  const costs: number[] = []
  const counted: RateLimiter = {
    ...local,
    consume(checks) {
      costs.push(...checks.map((check) => (check.kind === 'window' ? check.cost : 0)))
      return local.consume(checks)
    },
  }
  const limits = createSharedLimits(
    { ...memoryRateLimiter({ clock }), ...shared },
    counted,
    clockOf(clock),
    () => {},
  )
  return { clock, limits, costs }
}

/** Answers as a limiter does that has so many left. */
function granting(left: () => number): Partial<RateLimiter> {
  return {
    async consume(checks: readonly LimitCheck[]): Promise<LimitDecision> {
      const granted = left()
      const state = { allowed: granted > 0, granted, remaining: 0, resetInMs: 700, retryAfterMs: 900 }
      return { allowed: state.allowed, states: checks.map(() => state) }
    },
  }
}

const pace = (cost: number): readonly LimitCheck[] => [paceCheck('pace', 5, cost)]

it('of what the limiter grants no more goes than this process alone would permit', async () => {
  const { clock, limits } = create(granting(() => 5))
  expect((await limits.consume(pace(5))).states[0]?.granted).toBe(5)
  expect((await limits.consume(pace(5))).states[0]?.granted).toBe(0)
  // The clock of the limiter may be a little ahead.
  await clock.advance(1_010)
  expect((await limits.consume(pace(5))).states[0]?.granted).toBe(5)
})

it('what the limiter says of the time from which there is more is what counts', async () => {
  const { limits } = create(granting(() => 3))
  expect((await limits.consume(pace(5))).states[0]).toMatchObject({ granted: 3, resetInMs: 700 })
})

it('a limiter that answers no decision is away', async () => {
  const none = async () => ({ allowed: true }) as LimitDecision
  const { limits } = create({ consume: none, peek: none })
  expect((await limits.consume(pace(5))).states[0]?.granted).toBe(5)
  expect((await limits.peek(pace(5))).states[0]?.granted).toBe(0)
})

it('nothing is counted here of what the limiter refuses', async () => {
  const { limits, costs } = create(granting(() => 0))
  expect(await limits.consume(pace(5))).toMatchObject({ allowed: false, states: [{ retryAfterMs: 900 }] })
  expect(costs).toEqual([])
})

it('a pause and a slot that comes back are known here while the limiter is away', async () => {
  const { limits } = create(AWAY)
  limits.pause('rest', 30_000)
  await settled()
  expect((await limits.peek([pauseCheck('rest')])).allowed).toBe(false)
  const slot = (token: string) => ({ kind: 'slots', key: 'probe', limit: 1, token, leaseMs: 30_000 }) as const
  expect((await limits.consume([slot('a')])).allowed).toBe(true)
  expect((await limits.consume([slot('b')])).allowed).toBe(false)
  limits.release('probe', 'a')
  await settled()
  expect((await limits.consume([slot('b')])).allowed).toBe(true)
})

it('an answer that came while this process stood still is read, and no timer is left of the wait', async () => {
  let timers = 0
  let answered = (): void => {}
  const paused = { allowed: false, granted: 0, remaining: 0, resetInMs: 9, retryAfterMs: 9 }
  const answer = new Promise<LimitDecision>((resolve) => {
    answered = () => resolve({ allowed: false, states: [paused] })
  })
  const { clock, limits } = create({ peek: () => answer }, (clock) => ({
    ...clock,
    timer(delayMs, callback) {
      timers += 1
      const cancel = clock.timer(delayMs, () => {
        timers -= 1
        callback()
        // What lay ready is read after the timers of the turn.
        answered()
      })
      return () => {
        timers -= 1
        cancel()
      }
    },
  }))
  const peeked = limits.peek([pauseCheck('rest')])
  await clock.advance(1_000)
  expect((await peeked).allowed).toBe(false)
  timers = 0
  await limits.peek([pauseCheck('rest')])
  expect(timers).toBe(0)
})
