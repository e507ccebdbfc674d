/** When a failed attempt is tried again. All times in milliseconds. */
export type RetryPolicy =
  | {
      readonly kind: 'exponential'
      /** Attempts in total, the first included. */
      readonly maxAttempts: number
      /** Ceiling of the first delay. */
      readonly baseMs: number
      /** Ceiling of the last delay; those between grow by the same factor each. */
      readonly capMs: number
    }
  | {
      readonly kind: 'schedule'
      /** Delay before the second, third … attempt; one attempt more than there are delays. */
      readonly delaysMs: readonly number[]
      /** Each delay is spread evenly over ± this share of itself. */
      readonly jitter: number
    }

/** How providers are tried again: 8 attempts, exponential with full jitter from 1 s to 15 min. */
export const PROVIDER_RETRY: RetryPolicy = {
  kind: 'exponential',
  maxAttempts: 8,
  baseMs: 1_000,
  capMs: 900_000,
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** How webhook endpoints are tried again: the schedule of Standard Webhooks' operational advice, ±20 %. */
export const WEBHOOK_RETRY: RetryPolicy = {
  kind: 'schedule',
  delaysMs: [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  jitter: 0.2,
}

/** No hint of a provider can postpone an attempt further than this. */
export const LONGEST_HINT_MS: number = 24 * HOUR

/** How many attempts a policy allows. */
export function maxAttempts(policy: RetryPolicy): number {
  return policy.kind === 'exponential' ? policy.maxAttempts : policy.delaysMs.length + 1
}

/**
 * How many attempts an outage may cost: faults of the provider itself use no message up. With
 * the default policy a message waits for a provider that is down for most of a day.
 */
export function maxOutageAttempts(policy: RetryPolicy): number {
  const attempts = maxAttempts(policy)
  return attempts === 1 ? 1 : attempts * OUTAGE_FACTOR
}

const OUTAGE_FACTOR = 16

/**
 * Milliseconds to wait after attempt number `attempt` (from 1) failed; null when it was the last.
 *
 * @param random a number in [0, 1)
 * @param retryAfterMs the provider's hint. It wins where it is longer; on a schedule it is kept within
 *   [delay, 2 · delay].
 */
export function retryDelay(
  policy: RetryPolicy,
  attempt: number,
  random: number,
  retryAfterMs?: number,
): number | null {
  if (attempt >= maxAttempts(policy)) return null
  const hint = Math.min(retryAfterMs ?? 0, LONGEST_HINT_MS)
  if (policy.kind === 'exponential') {
    // Doubling would never come near the cap within a few attempts, and an outage of minutes would end messages.
    const growth = (policy.capMs / policy.baseMs) ** (1 / Math.max(1, policy.maxAttempts - 2))
    const ceiling = Math.min(policy.capMs, policy.baseMs * growth ** (attempt - 1))
    return Math.max(Math.round(ceiling * random), hint)
  }
  const base = policy.delaysMs[attempt - 1] ?? 0
  const spread = base * (1 + policy.jitter * (2 * random - 1))
  return Math.round(Math.max(spread, Math.min(hint, 2 * base)))
}
