import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import type { LimitCheck, LimitDecision, LimitState } from '../../src/core/ports/rate-limiter.ts'
import { describeRedis, newPrefix } from '../support/redis.ts'
import { sharedRedis } from '../support/shared-redis.ts'
import { windowCheck } from '../support/window-check.ts'

/** A check with another token. */
const withToken =
  (by: number) =>
  (check: LimitCheck): LimitCheck =>
    check.kind === 'slots' ? { ...check, token: `t${(Number(check.token.slice(1)) + by) % 5}` } : check

describeRedis('the rate limiters on Redis and in memory', () => {
  const redis = sharedRedis()

  it('decide every call alike', async () => {
    const limits = [1, 2, 7, 40, 1_024, 1_025, 3_000]
    const windows = fc
      .record({
        slot: fc.nat({ max: limits.length - 1 }),
        factor: fc.constantFrom(1, 1.2),
        burstMs: fc.constantFrom(0, 10_000),
        share: fc.constantFrom(0, 0.1, 0.6, 2),
        extra: fc.integer({ min: 1, max: 3 }),
        partial: fc.boolean(),
        // One count whose limit changes, as with a plan.
        moved: fc.nat({ max: 3 }).map((die) => die === 0),
      })
      .map(({ slot, factor, burstMs, share, extra, partial, moved }): LimitCheck => {
        const limit = limits[slot] ?? 1
        const cost = Math.floor(limit * share) + extra
        return windowCheck({
          key: moved ? 'org_a:moved' : `org_a:${slot}`,
          limit,
          burst: Math.floor(limit * factor),
          burstMs,
          cost,
          partial,
        })
      })
    const check: fc.Arbitrary<LimitCheck> = fc.oneof(
      { weight: 6, arbitrary: windows },
      {
        weight: 2,
        arbitrary: fc.nat({ max: 4 }).map((token): LimitCheck => {
          return { kind: 'slots', key: 'org_a:s', limit: 3, token: `t${token}`, leaseMs: 20_000 }
        }),
      },
      { weight: 1, arbitrary: fc.constant<LimitCheck>({ kind: 'pause', key: 'org_a:p' }) },
    )
    const call = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          verb: fc.constant('consume' as const),
          checks: fc.array(check, { maxLength: 4 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('peek' as const),
          checks: fc.array(check, { maxLength: 4 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          verb: fc.constant('pause' as const),
          ms: fc.constantFrom(0, 1, 3_000, 15_000),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ verb: fc.constant('release' as const), token: fc.nat({ max: 4 }) }),
      },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant('renew' as const), token: fc.nat({ max: 4 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('refund' as const),
          slot: fc.nat({ max: limits.length }),
          units: fc.constantFrom(1, 2, 9, 300, 5_000),
        }),
      },
    )
    const wait = fc.oneof(
      { weight: 6, arbitrary: fc.nat({ max: 400 }) },
      { weight: 2, arbitrary: fc.nat({ max: 20_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 9_999, 10_000, 20_000, 59_999, 60_000, 60_001, 120_000) },
    )
    const times = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 8 }))
    const steps = fc.array(fc.tuple(wait, call, times), { minLength: 20, maxLength: 120 })
    let judged = 0
    let refused = 0
    const judge = (checks: readonly LimitCheck[], given: LimitDecision, expected: LimitDecision): void => {
      expect(given.allowed).toBe(expected.allowed)
      judged += 1
      if (!given.allowed) refused += 1
      for (const [index, state] of given.states.entries()) {
        const reference = expected.states[index] as LimitState
        // The limiter in memory leaves expired slots until they are short, and says as left what it did not take.
        const { remaining, granted } = reference
        const alike = checks[index]?.kind === 'slots' ? { remaining, granted } : {}
        expect({ ...rounded(state), ...alike }, JSON.stringify(checks[index])).toEqual(rounded(reference))
      }
    }
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        let time = 1_800_000_000_000
        const clock = { now: () => time, monotonic: () => time, timer: () => () => {} }
        const [ours, reference] = [redis.limiter(newPrefix(), () => time), memoryRateLimiter({ clock })]
        for (const [ms, step, times] of steps) {
          time += ms
          if (step.verb === 'pause') {
            await Promise.all([ours, reference].map((each) => each.pause('org_a:p', step.ms)))
          } else if (step.verb === 'release') {
            await Promise.all([ours, reference].map((each) => each.release('org_a:s', `t${step.token}`)))
          } else if (step.verb === 'refund') {
            const check = windowCheck({
              key: step.slot === limits.length ? 'org_a:moved' : `org_a:${step.slot}`,
            })
            const refunds = Array.from({ length: times })
            await Promise.all(refunds.map(() => ours.refund(check, step.units)))
            for (const _ of refunds) await reference.refund(check, step.units)
          } else if (step.verb === 'renew') {
            const answers = [ours, reference].map((each) => each.renew('org_a:s', `t${step.token}`, 20_000))
            const [given, expected] = await Promise.all(answers)
            expect(given).toBe(expected)
          } else {
            // Those that are asked in one turn share a run of the script.
            const calls = Array.from({ length: times }, (_, index) => step.checks.map(withToken(index)))
            const given = await Promise.all(calls.map((checks) => ours[step.verb](checks)))
            for (const [index, checks] of calls.entries())
              judge(checks, given[index] as LimitDecision, await reference[step.verb](checks))
          }
        }
        await ours.close()
      }),
      { numRuns: 120 },
    )
    expect(refused).toBeGreaterThan(200)
    expect(judged - refused).toBeGreaterThan(200)
  })

  it.each([200, 2_000])('decide ordinary calls alike: limit %i', async (limit) => {
    let time = 1_800_000_000_000
    const clock = { now: () => time, monotonic: () => time, timer: () => () => {} }
    const [ours, reference] = [redis.limiter(newPrefix(), () => time), memoryRateLimiter({ clock })]
    const checks = [
      windowCheck({ limit, burst: 1.2 * limit, burstMs: 10_000 }),
      windowCheck({ key: 'org_a:v', limit }),
    ]
    // Some units of a window have run out at most calls, and then several come at one time, or even in one turn.
    for (let step = 0; step < 400; step += 1) {
      time += [0, 0, 3, 0, 0, 7_001, 0][step % 7] ?? 0
      const together = Array.from({ length: 1 + (step % 4 === 3 ? 3 : 0) })
      for (const given of await Promise.all(together.map(() => ours.consume(checks)))) {
        const expected = await reference.consume(checks)
        expect(given.allowed).toBe(true)
        expect(given.states.map(rounded), `step ${step}`).toEqual(expected.states.map(rounded))
      }
    }
  })
})

function rounded(state: LimitState): LimitState {
  const round = (value: number): number => Math.round(value * 1_000) / 1_000
  const { allowed, granted, remaining, resetInMs, retryAfterMs } = state
  return { allowed, granted, remaining, resetInMs: round(resetInMs), retryAfterMs: round(retryAfterMs) }
}
