import { createNotifier, type Notifier } from 'carillon'
import { postgres } from 'carillon/postgres'
import { redisRateLimiter } from 'carillon/redis'
import { sinkProvider } from './sink-provider.ts'

/** What every process of the service has in common. */
export interface Addresses {
  readonly postgres: string
  readonly schema: string
  readonly redis: string
  readonly prefix: string
  readonly provider: string
}

/** High enough for the load, and low enough to be counted: every request asks Redis, and every month its row. */
const load = {
  requests: { limit: 600_000, windowMs: 60_000 },
  notificationsPerHour: 10_000_000,
  concurrentRequests: 2_000,
  notificationsPerMonth: 100_000_000,
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
    // Everything shares one machine here, which is slow while processes start: patience costs less than a 503.
    rateLimiter: redisRateLimiter({ url: redis, prefix, timeoutMs: 3_000, onError: () => {} }),
    channels: { email: sinkProvider(provider) },
    plans: { load },
    // What a killed worker had in hand is taken up again after so long.
    delivery: { leaseMs: 4_000, pollMs: 500 },
  })
}
