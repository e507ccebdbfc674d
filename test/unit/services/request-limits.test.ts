import { expect, it } from 'vitest'
import { tagOf } from '../../../adapters/rate-limit/redis/keys.ts'
import { memoryRateLimiter } from '../../../src/memory/rate-limiter/memory-rate-limiter.ts'
import type { LimitCheck, RateLimiter } from '../../../src/ports/rate-limiter.ts'
import type { PlanFinder } from '../../../src/services/limits/plan-of.ts'
import { createRequestLimits, DEFAULT_OVERUSE } from '../../../src/services/limits/request-limits.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'

it('counts each address under a part of the keys of its own, so that a cluster spreads them', async () => {
  const clock = fakeClock()
  const limiter = memoryRateLimiter({ clock })
  const asked: string[] = []
  const recording: RateLimiter = {
    ...limiter,
    consume(checks: readonly LimitCheck[]) {
      asked.push(...checks.map(({ key }) => key))
      return limiter.consume(checks)
    },
  }
  const limits = createRequestLimits(recording, {} as PlanFinder, clock, DEFAULT_OVERUSE)
  const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', 'unknown']
  for (const resource of ['requests', 'public'] as const) {
    for (const address of addresses) await limits.admitAddress(address, resource)
  }
  expect(new Set(asked.map(tagOf)).size).toBe(2 * addresses.length)
})
