/**
 * What one notification costs each part, as measured by the other benchmarks (docs/performance.md says on what machine and
 * how): to be replaced where yours differs. Microseconds of processor time unless said otherwise.
 */
export interface Costs {
  /** A send over HTTP: parsing, key, limits, validation, answer (stacks.ts). */
  readonly api: number
  /** The same in Redis: a decision before and a release after (redis-limiter.ts). */
  readonly redis: number
  /** The same in PostgreSQL: key, suppression, insert (stacks.ts). */
  readonly postgresAccept: number
  /** Claim, start and settle in the process that delivers (postgres.ts). */
  readonly worker: number
  /** The same in PostgreSQL. */
  readonly postgresDelivery: number
  /** The provider's request itself: an HTTP API or SMTP, composed and sent. */
  readonly provider: number
  /** Until the provider answers, in milliseconds. */
  readonly providerMs: number
  /** One commit that waits for the disk, in milliseconds; those that come meanwhile share the next. */
  readonly commitMs: number
  /** Stored for one notification with one webhook endpoint, in bytes (docs/scaling.md). */
  readonly bytes: number
  /** The busiest seconds of a day beside its mean. */
  readonly peak: number
  /** Messages that one process has under way. */
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
