/** When to repeat failed attempts. All times in milliseconds. */
export type RetryPolicy =
  | {
      readonly kind: 'exponential'
      /** Total number of attempts, including the first. */
      readonly maxAttempts: number
      /** Ceiling of the first delay. */
      readonly baseMs: number
      /** Ceiling of the last delay; the ones between grow by a constant factor. */
      readonly capMs: number
    }
  | {
      readonly kind: 'schedule'
      /** Delays before the second, third … attempt. */
      readonly delaysMs: readonly number[]
      /** Each delay varies evenly by ± this share. */
      readonly jitter: number
    }

/** The default for providers: 8 attempts, exponential with full jitter from 1 s to 15 min. */
export const PROVIDER_RETRY: RetryPolicy = {
  kind: 'exponential',
  maxAttempts: 8,
  baseMs: 1_000,
  capMs: 900_000,
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The schedule for webhook endpoints: the operational advice of Standard Webhooks, ±20 %. */
export const WEBHOOK_RETRY: RetryPolicy = {
  kind: 'schedule',
  delaysMs: [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  jitter: 0.2,
}

/** Maximum delay by a provider's hint. */
export const LONGEST_HINT_MS: number = 24 * HOUR

/** The number of attempts of a policy. */
export function maxAttempts(policy: RetryPolicy): number {
  return policy.kind === 'exponential' ? policy.maxAttempts : policy.delaysMs.length + 1
}

/**
 * The maximum number of attempts during an outage, which do not count against the message. With the default policy a
 * message waits for a provider for most of a day.
 */
export function maxOutageAttempts(policy: RetryPolicy): number {
  const attempts = maxAttempts(policy)
  return attempts === 1 ? 1 : attempts * OUTAGE_FACTOR
}

const OUTAGE_FACTOR = 16

/**
 * Milliseconds to wait after attempt number `attempt` (from 1). Null: it was the last.
 *
 * @param random a number in [0, 1)
 * @param retryAfterMs the provider's hint. It wins if it is longer; on a schedule it is limited to [delay, 2 · delay].
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
    // Doubling would not reach the cap within a few attempts, and a short outage would end messages.
    const growth = (policy.capMs / policy.baseMs) ** (1 / Math.max(1, policy.maxAttempts - 2))
    const ceiling = Math.min(policy.capMs, policy.baseMs * growth ** (attempt - 1))
    return Math.max(Math.round(ceiling * random), hint)
  }
  const base = policy.delaysMs[attempt - 1] ?? 0
  const spread = base * (1 + policy.jitter * (2 * random - 1))
  return Math.round(Math.max(spread, Math.min(hint, 2 * base)))
}
