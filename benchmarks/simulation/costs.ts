/**
 * Costs of one notification, measured by the other benchmarks (docs/understand/performance.md names the machine and the method).
 * Replace them with your own measurements. Microseconds of processor time unless noted.
 */
export interface Costs {
  /** A send over HTTP: parsing, key, limits, validation, answer (stacks.ts). */
  readonly api: number
  /** Its part in Redis: a decision before and a release after (redis-limiter.ts). */
  readonly redis: number
  /** Its part in PostgreSQL: key, suppression, insert (stacks.ts). */
  readonly postgresAccept: number
  /** Claim, start and settle in the delivering process (postgres.ts). */
  readonly worker: number
  /** Their part in PostgreSQL. */
  readonly postgresDelivery: number
  /** Composing and sending the request to the provider, over an HTTP API or SMTP. */
  readonly provider: number
  /** The provider's response time, in milliseconds. */
  readonly providerMs: number
  /** One commit that waits for the disk, in milliseconds. Commits that arrive meanwhile share the next one. */
  readonly commitMs: number
  /** Stored bytes of one notification with one webhook endpoint (docs/understand/postgresql.md). */
  readonly bytes: number
  /** Ratio of the busiest seconds of a day to its mean. */
  readonly peak: number
  /** Concurrent messages per process. */
  readonly concurrent: number
}

export const MEASURED: Costs = {
  api: 110,
  redis: 13,
  postgresAccept: 45,
  worker: 41,
  postgresDelivery: 52,
  provider: 600,
  providerMs: 150,
  commitMs: 1,
  bytes: 5_400,
  peak: 4,
  concurrent: 500,
}
