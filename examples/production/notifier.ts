import { createNotifier, type Notifier } from 'carillon'
import { postgres } from 'carillon/postgres'
import { redisRateLimiter } from 'carillon/redis'
import { sinkProvider } from './sink-provider.ts'

/** Settings of every process of the service. */
export interface Addresses {
  readonly postgres: string
  readonly schema: string
  readonly redis: string
  readonly prefix: string
  readonly provider: string
}

/** High enough for the load, yet counted: every request uses Redis and the month's row. */
const load = {
  requests: { limit: 600_000, windowMs: 60_000 },
  notificationsPerHour: 10_000_000,
  concurrentRequests: 2_000,
  notificationsPerMonth: 100_000_000,
  storedBytes: null,
}

/** The same in API processes, which start it with `deliver: false`, and in workers. */
export function productionNotifier({
  postgres: onPostgres,
  schema,
  redis,
  prefix,
  provider,
}: Addresses): Notifier {
  return createNotifier({
    storage: postgres({
      connectionString: onPostgres,
      schema,
      maxConnections: 5,
      statementTimeoutMs: 5_000,
    }),
    // All processes share one machine, which is slow while they start. Waiting is better than a 503.
    rateLimiter: redisRateLimiter({ url: redis, prefix, timeoutMs: 3_000, onError: () => {} }),
    channels: { email: sinkProvider(provider) },
    plans: { load },
    // A killed worker's notifications are recovered after this time.
    delivery: { leaseMs: 4_000, pollMs: 500 },
  })
}
