import { memoryRateLimiter } from 'carillon'
import type { WindowCheck } from 'carillon/limiter-kit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { compare, describeMachine, report } from './lib/measure.ts'

/**
 * Cost of one decision. rate-limiter-flexible counts one fixed window. Carillon evaluates a request window with its
 * burst, an account pause and a concurrency slot together, exactly, and releases the slot.
 */

const DECISIONS = 200_000
const KEYS = 100
const RIVAL = 'rate-limiter-flexible, one fixed window'

const flexible = new RateLimiterMemory({ points: 1_000_000_000, duration: 60 })
const limiter = memoryRateLimiter()

/** A tenant's keys and checks are created once, for both contenders. */
const tenants = Array.from({ length: KEYS }, (_, index) => {
  const id = `org_${index}`
  const window: WindowCheck = {
    kind: 'window',
    key: `${id}:requests`,
    limit: 1_000_000_000,
    windowMs: 60_000,
    burst: 1_200_000_000,
    burstMs: 10_000,
    cost: 1,
  }
  return { id, slots: `${id}:concurrency`, window, pause: { kind: 'pause', key: `${id}:account` } as const }
})

type Tenant = (typeof tenants)[number]

async function decide(one: (tenant: Tenant, token: string) => Promise<unknown>): Promise<number> {
  for (let count = 0; count < DECISIONS; count += 1) await one(tenants[count % KEYS] as Tenant, String(count))
  return DECISIONS
}

const rates = await compare([
  { name: RIVAL, run: () => decide(({ id }) => flexible.consume(id)) },
  { name: 'Carillon, one window', run: () => decide(({ window }) => limiter.consume([window])) },
  {
    name: 'Carillon, window, pause and slot',
    run: () =>
      decide(async ({ pause, window, slots }, token) => {
        await limiter.consume([
          pause,
          window,
          { kind: 'slots', key: slots, limit: 50, token, leaseMs: 300_000 },
        ])
        await limiter.release(slots, token)
      }),
  },
])
console.log(describeMachine())
report('Limits in memory', 'decisions', rates, RIVAL)
