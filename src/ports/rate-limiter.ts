/**
 * Counts what is limited: requests, notifications per hour, concurrent requests, provider pacing.
 *
 * Several limits are judged together: all are evaluated, and only if every one allows is anything counted,
 * atomically over all processes that share the limiter. The limiter owns its clock.
 */
export interface RateLimiter {
  /** Counts `cost` against every check, or against none. Never waits. */
  consume(checks: readonly LimitCheck[]): Promise<LimitDecision>
  /** Reads the same state without counting. */
  peek(checks: readonly LimitCheck[]): Promise<LimitDecision>
  /**
   * Takes one of `limit` slots under `key` for `leaseMs`. A slot that is not renewed comes back by itself.
   *
   * @returns a token for {@link renew} and {@link release}; null when all slots are taken.
   */
  acquire(key: string, limit: number, leaseMs: number): Promise<string | null>
  /** Extends a lease. False: it had expired, and the slot may be another's. */
  renew(key: string, token: string, leaseMs: number): Promise<boolean>
  /** Gives a slot back; harmless when repeated or expired. */
  release(key: string, token: string): Promise<void>
  close(): Promise<void>
}

/** One sliding-window limit (reference: SPEC.md "Limits", rules 1 to 3). */
export interface LimitCheck {
  /** What is counted, for example `org_x:requests`. Keys of one organization share a prefix up to the first colon. */
  readonly key: string
  /** Most units in a window. */
  readonly limit: number
  readonly windowMs: number
  /** Ceiling inside one burst episode; equal to `limit` for none. */
  readonly burst: number
  /** Longest burst episode. */
  readonly burstMs: number
  /** Units of this call. */
  readonly cost: number
}

export interface LimitDecision {
  readonly allowed: boolean
  /** One state per check, in order. */
  readonly states: readonly LimitState[]
}

export interface LimitState {
  readonly allowed: boolean
  /** Units left in the window after this call; 0 while bursting. */
  readonly remaining: number
  /** Epoch milliseconds at which `remaining` next rises. */
  readonly resetAt: number
  /** Milliseconds after which the same call succeeds if nothing else is counted; 0 when it was allowed. */
  readonly retryAfterMs: number
}
