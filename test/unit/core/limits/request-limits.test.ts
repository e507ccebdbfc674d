import { expect, it } from 'vitest'
import { tagOf } from '../../../../adapters/rate-limit/redis/keys.ts'
import type { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { memoryRateLimiter } from '../../../../src/core/limits/memory-rate-limiter.ts'
import type { RouteLimit } from '../../../../src/core/limits/model.ts'
import {
  createRequestLimits,
  DEFAULT_OVERUSE,
  type RequestLimits,
} from '../../../../src/core/limits/request-limits.ts'
import { PUBLIC, REQUESTS } from '../../../../src/core/limits/route-limits.ts'
import { NO_TRACKING } from '../../../../src/core/links/tracking.ts'
import type { LimitCheck, RateLimiter } from '../../../../src/core/ports/rate-limiter.ts'
import { UNBRANDED } from '../../../../src/core/tenancy/organization.ts'
import type { PlanFinder } from '../../../../src/core/tenancy/plan-of.ts'
import { type Plan, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { servedNotifier } from '../../../../src/served-notifier.ts'
import { type FakeClock, fakeClock } from '../../../../src/testing/fake-clock.ts'

const MINUTE = 60_000

interface World {
  readonly clock: FakeClock
  readonly asked: string[]
  readonly overflows: string[]
  readonly limits: RequestLimits
}

function world(plan: Plan = UNLIMITED): World {
  const clock = fakeClock()
  const limiter = memoryRateLimiter({ clock })
  const asked: string[] = []
  const overflows: string[] = []
  const recording: RateLimiter = {
    ...limiter,
    consume(checks: readonly LimitCheck[]) {
      asked.push(...checks.map(({ key }) => key))
      overflows.push(...checks.flatMap((check) => (check.kind === 'window' ? (check.overflow ?? []) : [])))
      return limiter.consume(checks)
    },
  }
  const about = {
    name: 'x',
    plan,
    smsCountries: null,
    locale: null,
    timeZone: null,
    senders: null,
    branding: UNBRANDED,
    tracking: NO_TRACKING,
    deleting: false,
  }
  const plans: PlanFinder = {
    all: {},
    of: () => about,
    choose: () => about,
    existing: async () => {},
    readable: async () => {},
    assertKnown() {},
    forget() {},
  }
  return {
    clock,
    asked,
    overflows,
    limits: createRequestLimits(recording, plans, clock, DEFAULT_OVERUSE),
  }
}

it('counts each address under a part of the keys of its own, so that a cluster spreads them', async () => {
  const { asked, limits } = world()
  const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1', 'unknown']
  for (const limit of [REQUESTS, PUBLIC]) {
    for (const address of addresses) await limits.admitAddress(address, limit)
  }
  expect(new Set(asked.map(tagOf)).size).toBe(2 * addresses.length)
})

it.each([
  ['of one /64', ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:DB8:1:2:ffff::'], 'address.2001-db8-1-2'],
  [
    'with zeros before the 64th bit',
    ['2001:db8::1', '2001:0db8:0:0::2', '2001:db8:0::7:8'],
    'address.2001-db8-0-0',
  ],
  ['that begin with zeros', ['::1', '0:0:0:0:1::'], 'address.0-0-0-0'],
  [
    'of IPv4 in IPv6',
    ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '64:ff9b::192.0.2.1', '0:0:0:0:0:FFFF:C000:0201'],
    'address.192.0.2.1',
  ],
])('counts addresses %s as one', async (_what, addresses, expected) => {
  const { asked, limits } = world()
  for (const address of addresses) await limits.admitAddress(address, REQUESTS)
  expect(new Set(asked)).toEqual(new Set([`${expected}:requests:60000`]))
})

it('says where addresses count that there is no room for, apart for each limit', async () => {
  const { overflows, limits } = world()
  await limits.admitAddress('192.0.2.1', REQUESTS)
  await limits.admitAddress('192.0.2.1', PUBLIC)
  expect(overflows).toEqual(['address.others:requests:60000', 'public.others:requests:60000'])
})

it('what one limit refuses is no overuse of another', async () => {
  const clock = fakeClock()
  const limiter = memoryRateLimiter({ clock })
  const plans: Pick<PlanFinder, 'of'> = {
    of: () => ({
      name: 'enterprise',
      plan: UNLIMITED,
      smsCountries: null,
      locale: null,
      timeZone: null,
      senders: null,
      branding: UNBRANDED,
      tracking: NO_TRACKING,
      deleting: false,
    }),
  }
  const limits = createRequestLimits(limiter, plans as PlanFinder, clock, { ...DEFAULT_OVERUSE, factor: 1 })
  const outcomes = async (limit: RouteLimit, times: number) => {
    const seen: string[] = []
    for (let count = 0; count < times; count += 1) {
      const outcome = await limits.admit('org_1', limit).then(
        () => 'admitted',
        (error: NotifierError) => String(error.details?.resource),
      )
      if (seen.at(-1) !== outcome) seen.push(outcome)
    }
    return seen
  }
  const few: RouteLimit = { name: 'few', perMinute: 100 }
  expect(await outcomes({ name: 'many', perMinute: 1_000 }, 1_200 + 500)).toEqual(['admitted', 'many'])
  expect(await outcomes(few, 120 + 100)).toEqual(['admitted', 'few'])
  expect(await outcomes(REQUESTS, 1)).toEqual(['admitted'])
  expect(await outcomes(few, 2)).toEqual(['few', 'account'])
})

it('names the limit of requests under unit only where none is left', async () => {
  const plan: Plan = { ...UNLIMITED, concurrentRequests: 2, requests: { limit: 100, windowMs: MINUTE } }
  const { limits } = world(plan)
  const first = await limits.admit('org_a', REQUESTS)
  const second = await limits.admit('org_a', REQUESTS)
  expect([first.state, second.state]).toMatchObject([
    { resource: 'requests', limit: 100 },
    { resource: 'concurrency', limit: 2, remaining: 0 },
  ])
})

const ONE_REQUEST: Plan = { ...UNLIMITED, concurrentRequests: 1 }
const refusal = expect.objectContaining({
  code: 'rate_limit_exceeded',
  message: expect.stringContaining('. Wait for'),
})

it('counts a request among those under unit for as long as it takes', async () => {
  const { clock, limits } = world(ONE_REQUEST)
  const { release } = await limits.admit('org_a', REQUESTS)
  for (let minute = 0; minute < 50; minute += 1) {
    await clock.advance(MINUTE)
    await expect(limits.admit('org_a', REQUESTS)).rejects.toEqual(refusal)
  }
  await release()
  const { release: releaseNext } = await limits.admit('org_a', REQUESTS)
  await clock.advance(10 * MINUTE)
  await release()
  await expect(limits.admit('org_a', REQUESTS)).rejects.toEqual(refusal)
  await releaseNext()
  await limits.admit('org_a', REQUESTS)
})

it('gives up on a request that does not end within an hour', async () => {
  const { clock, limits } = world(ONE_REQUEST)
  await limits.admit('org_a', REQUESTS)
  await clock.advance(59 * MINUTE)
  await expect(limits.admit('org_a', REQUESTS)).rejects.toEqual(refusal)
  await clock.advance(2 * MINUTE + 1)
  await limits.admit('org_a', REQUESTS)
})

it('what a process held that is gone is free after a minute', async () => {
  const { clock, limits } = world(ONE_REQUEST)
  await limits.admit('org_a', REQUESTS)
  limits.close()
  await clock.advance(MINUTE - 1)
  await expect(limits.admit('org_a', REQUESTS)).rejects.toEqual(refusal)
  await clock.advance(1)
  await limits.admit('org_a', REQUESTS)
})

it('what a limiter throws at once is no end of the process, nor of an answer', async () => {
  const clock = fakeClock()
  const atOnce = (): never => {
    throw new Error('at once')
  }
  const rateLimiter: RateLimiter = { ...memoryRateLimiter({ clock }), renew: atOnce, release: atOnce }
  const notifier = createNotifier({ clock, rateLimiter, channels: {}, plans: { own: ONE_REQUEST } })
  await notifier.start({ deliver: false })
  const { id } = await notifier.organizations.create({ name: 'A', plan: 'own' })
  const { release } = await servedNotifier(notifier).limits.admit({ organizationId: id }, REQUESTS)
  await clock.advance(MINUTE)
  await expect(release()).rejects.toThrow('at once')
  await notifier.stop()
})
