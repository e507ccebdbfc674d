import type { WindowCheck } from 'carillon/limiter-kit'
import { redisRateLimiter } from 'carillon/redis'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { startRedis } from '../examples/servers/redis.ts'
import { type Contender, compare, describeMachine, report } from './lib/measure.ts'

/**
 * Cost of one decision over one connection to Redis, one round trip each. rate-limiter-flexible counts one fixed
 * window. Carillon evaluates one sliding window with its burst, or a window, an account pause and a concurrency slot
 * together, exactly. PING shows the connection's own limit. Decisions concern many organizations, or one whose calls of
 * one turn share a run of the script.
 */

const DECISIONS = 20_000
const KEYS = 100
const AT_ONCE = 50
const RIVAL = 'rate-limiter-flexible, one fixed window'

const server = await startRedis()
try {
  const { url } = server
  const clients = Array.from({ length: 3 }, () => new Redis(url))
  const [plain, rivals, ours] = clients as [Redis, Redis, Redis]
  const flexible = new RateLimiterRedis({
    storeClient: rivals,
    points: 1_000_000_000,
    duration: 60,
    keyPrefix: `bench-${process.pid}`,
  })
  const limiter = redisRateLimiter({ client: ours, prefix: `bench-${process.pid}:`, timeoutMs: 10_000 })
  const tenants = Array.from({ length: KEYS }, (_, index) => tenant(`org_${index}`))

  const ping: Contender = { name: 'PING', run: () => decide(KEYS, () => plain.ping()) }
  const contenders = (organizations: number): Contender[] => [
    {
      name: RIVAL,
      run: () => decide(organizations, ({ id }) => flexible.consume(tenants[id]?.name ?? '')),
    },
    {
      name: 'Carillon, one window',
      run: () => decide(organizations, ({ id }) => limiter.consume([tenants[id]?.window as WindowCheck])),
    },
    {
      name: 'Carillon, window, pause and slot',
      run: () =>
        decide(organizations, ({ id, token }) => {
          const { window, name } = tenants[id] as Tenant
          return limiter.consume([
            { kind: 'pause', key: `${name}:account` },
            window,
            {
              kind: 'slots',
              key: `${name}:concurrency`,
              limit: 1_000_000,
              token: String(token % 50),
              leaseMs: 300_000,
            },
          ])
        }),
    },
  ]
  const ofMany = await compare([ping, ...contenders(KEYS)])
  const ofOne = await compare(contenders(1))
  console.log(describeMachine())
  report(`Limits in Redis, ${AT_ONCE} at once, ${KEYS} organizations`, 'decisions', ofMany, RIVAL)
  report(`Limits in Redis, ${AT_ONCE} at once, one organization`, 'decisions', ofOne, RIVAL)
  for (const client of clients) client.disconnect()
} finally {
  await server.remove()
}

type Tenant = ReturnType<typeof tenant>

function tenant(name: string) {
  const window: WindowCheck = {
    kind: 'window',
    key: `${name}:requests`,
    limit: 1_000_000_000,
    windowMs: 60_000,
    burst: 1_200_000_000,
    burstMs: 10_000,
    cost: 1,
  }
  return { name, window }
}

/** Concurrent callers with one pending decision each. */
async function decide(
  organizations: number,
  one: (turn: { id: number; token: number }) => Promise<unknown>,
): Promise<number> {
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < DECISIONS) {
        const count = next++
        await one({ id: count % organizations, token: count })
      }
    }),
  )
  return DECISIONS
}
