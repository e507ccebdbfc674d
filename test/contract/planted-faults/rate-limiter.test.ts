import { expect, it } from 'vitest'
import { memoryRateLimiter } from '../../../src/core/limits/memory-rate-limiter.ts'
import type {
  LimitCheck,
  LimitDecision,
  LimitState,
  RateLimiter,
} from '../../../src/core/ports/rate-limiter.ts'
import { rateLimiterContract } from '../../../src/testing/rate-limiter/rate-limiter-contract.ts'

/* The contract itself: ways to break it that were once not found. */

type Consume = RateLimiter['consume']

/** Another limiter with another `consume`, made of the right one. */
const consuming =
  (wrong: (consume: Consume, checks: readonly LimitCheck[]) => Promise<LimitDecision>) =>
  (limiter: RateLimiter): RateLimiter => ({
    ...limiter,
    consume: (checks) => wrong(limiter.consume, checks),
  })

/** Counts checks of a kind though another one refused. */
const halfCounting = (counts: (check: LimitCheck) => boolean) =>
  consuming(async (consume, checks) => {
    const decision = await consume(checks)
    if (!decision.allowed) for (const check of checks) if (counts(check)) await consume([check])
    return decision
  })

/** Says something else about checks of a kind. */
const saying = (kind: LimitCheck['kind'], wrong: Partial<LimitState>) =>
  consuming(async (consume, checks) => {
    const decision = await consume(checks)
    const states = decision.states.map((state, index) =>
      checks[index]?.kind === kind ? { ...state, ...wrong } : state,
    )
    return { ...decision, states }
  })

/** Keeps checks of a kind under one key. */
const mixing = (kind: LimitCheck['kind']) =>
  consuming((consume, checks) =>
    consume(checks.map((check) => (check.kind === kind ? { ...check, key: 'all' } : check))),
  )

/** Evaluates checks of a kind with other fields. */
const changing = <Kind extends LimitCheck['kind']>(
  kind: Kind,
  change: (check: Extract<LimitCheck, { kind: Kind }>) => Partial<Extract<LimitCheck, { kind: Kind }>>,
) =>
  consuming((consume, checks) =>
    consume(
      checks.map((check) =>
        check.kind === kind ? { ...check, ...change(check as Extract<LimitCheck, { kind: Kind }>) } : check,
      ),
    ),
  )

const WRONG: Readonly<Record<string, (limiter: RateLimiter) => RateLimiter>> = {
  'a slot is taken though a window refused': halfCounting(({ kind }) => kind === 'slots'),
  'a window is counted though something else refused': halfCounting(({ kind }) => kind === 'window'),
  'a part is counted though something else refused': halfCounting(
    (check) => check.kind === 'window' && check.partial === true,
  ),
  'a peek takes a slot': (limiter) => ({
    ...limiter,
    async peek(checks) {
      for (const check of checks) if (check.kind === 'slots') await limiter.consume([check])
      return limiter.peek(checks)
    },
  }),
  'a peek sees no pause': (limiter) => ({
    ...limiter,
    peek: (checks) => limiter.peek(checks.filter(({ kind }) => kind !== 'pause')),
  }),
  'slots of different keys are one': mixing('slots'),
  'pauses of different keys are one': (limiter) => ({
    ...mixing('pause')(limiter),
    pause: (_key, ms) => limiter.pause('all', ms),
  }),
  'a pause does not say how long': saying('pause', { retryAfterMs: 0 }),
  'a refused slot does not say how long': saying('slots', { retryAfterMs: 0 }),
  'no slot is ever said to be left': saying('slots', { remaining: 0 }),
  'nothing is taken back': (limiter) => ({ ...limiter, async refund() {} }),
  'one unit is taken back, however many': (limiter) => ({
    ...limiter,
    refund: (check) => limiter.refund(check, 1),
  }),
  'everything is taken back': (limiter) => ({
    ...limiter,
    refund: (check) => limiter.refund(check, 1_000),
  }),
  'more is taken back than was counted': (limiter) => {
    let owed = 0
    return {
      ...consuming(async (consume, checks) => {
        const decision = await consume(checks)
        const [check] = checks
        if (owed > 0 && decision.allowed && check?.kind === 'window') await limiter.refund(check, owed)
        return decision
      })(limiter),
      async refund(check, units) {
        const { states } = await limiter.peek([{ ...check, cost: check.limit, partial: true }])
        const counted = check.limit - (states[0]?.granted ?? 0)
        owed = Math.max(0, units - counted)
        await limiter.refund(check, units)
      },
    }
  },
  'a window counts twice': consuming(async (consume, checks) => {
    const decision = await consume(checks)
    if (decision.allowed) await consume(checks.filter(({ kind }) => kind === 'window'))
    return decision
  }),
  'a window never refills': changing('window', ({ windowMs }) => ({ windowMs: windowMs * 1_000 })),
  'a window refills too soon': changing('window', ({ windowMs }) => ({ windowMs: windowMs / 2 })),
  'windows of different keys are one': mixing('window'),
  'a window counts one unit, whatever it costs': changing('window', () => ({ cost: 1 })),
  'a slot is forgotten before its lease ends': changing('slots', ({ leaseMs }) => ({ leaseMs: leaseMs / 2 })),
  'a slot outlives its lease': changing('slots', ({ leaseMs }) => ({ leaseMs: leaseMs * 1_000 })),
  'more slots are given than there are': changing('slots', ({ limit }) => ({ limit: limit + 1 })),
  'a slot that is released stays taken': (limiter) => ({ ...limiter, async release() {} }),
  'a pause is forgotten': (limiter) => ({ ...limiter, async pause() {} }),
  'a pause lasts too long': (limiter) => ({ ...limiter, pause: (key, ms) => limiter.pause(key, ms * 2) }),
  'what is used never comes back': saying('window', { resetInMs: 0 }),
}

/** A limiter of another process that shares less than everything with the first. */
const APART: Readonly<Record<string, (first: RateLimiter, alone: RateLimiter) => RateLimiter>> = {
  'an instance counts alone': (_first, alone) => alone,
  'an instance counts slots alone': (first, alone) => ({
    ...first,
    consume: (checks) => (checks.some(({ kind }) => kind === 'slots') ? alone : first).consume(checks),
  }),
  'an instance keeps pauses alone': (first, alone) => ({
    ...first,
    consume: (checks) => (checks.some(({ kind }) => kind === 'pause') ? alone : first).consume(checks),
  }),
  'an instance takes back nothing of another': (first, alone) => ({ ...first, refund: alone.refund }),
  'an instance renews no slot of another': (first, alone) => ({ ...first, renew: alone.renew }),
  'an instance releases no slot of another': (first, alone) => ({ ...first, release: alone.release }),
  'an instance peeks at its own counts': (first, alone) => ({ ...first, peek: alone.peek }),
}

/** The names of the checks that a limiter does not pass. */
async function failuresOf(
  wrap: (limiter: RateLimiter) => RateLimiter,
  other: (first: RateLimiter, alone: RateLimiter) => RateLimiter = (first) => first,
): Promise<string[]> {
  const checks: [string, () => Promise<void>][] = []
  rateLimiterContract(
    (name, run) => checks.push([name, run]),
    async () => {
      let time = 0
      const clock = { now: () => time, monotonic: () => time, timer: () => () => {} }
      const limiter = wrap(memoryRateLimiter({ clock }))
      return {
        limiter,
        second: other(limiter, memoryRateLimiter({ clock })),
        advance(ms) {
          time += ms
        },
      }
    },
  )
  const failures: string[] = []
  for (const [name, run] of checks) {
    // The traces take seconds and are about windows alone.
    if (!name.includes('trace')) await run().catch(() => failures.push(name))
  }
  return failures
}

it('passes a limiter that keeps it', async () => {
  expect(await failuresOf((limiter) => limiter)).toEqual([])
})

it.each(Object.entries(WRONG))('finds that %s', async (_what, wrap) => {
  expect(await failuresOf(wrap)).not.toEqual([])
})

it.each(Object.entries(APART))('finds that %s', async (_what, other) => {
  expect(await failuresOf((limiter) => limiter, other)).not.toEqual([])
})
