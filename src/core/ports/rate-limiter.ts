/**
 * Counts against limits: requests, notifications per hour, concurrent requests, a provider's rate.
 *
 * Processes that share a limiter share its counts. The limiter has its own clock. A call that takes longer than ten
 * seconds or returns no decision has failed.
 */
export interface RateLimiter {
  /**
   * Loads what the limiter needs on this machine, such as an optional package. If it rejects, so does `start()` of the
   * notifier. Timeout 30 seconds.
   */
  open?(): Promise<void>
  /**
   * Evaluates several checks atomically: counts only if every check allows. Of parallel calls that compete for the last
   * unit exactly one gets it. Never waits for a limit. No two checks of a call have the same key.
   *
   * @throws NotifierError `service_unavailable` if the limiter cannot decide
   */
  consume(checks: readonly LimitCheck[]): Promise<LimitDecision>
  /** Evaluates like {@link consume} and counts nothing. */
  peek(checks: readonly LimitCheck[]): Promise<LimitDecision>
  /**
   * Takes back unused units that {@link RateLimiter.consume} counted, the newest of the window first. They end early by
   * the time between the two calls. Harmless if they have expired. A burst that they opened remains.
   *
   * @param check as it was counted; `cost` is ignored
   * @param units at least 1
   */
  refund(check: WindowCheck, units: number): Promise<void>
  /** Refuses every `pause` check of `key` for `ms`. Never shortens a pause. */
  pause(key: string, ms: number): Promise<void>
  /** Extends a slot to `leaseMs` from now. False: the slot has expired, and another caller may have it. */
  renew(key: string, token: string, leaseMs: number): Promise<boolean>
  /** Returns a slot. Harmless if repeated or if the slot has expired. */
  release(key: string, token: string): Promise<void>
  /** Releases all resources of the limiter. Idempotent. */
  close(): Promise<void>
}

/**
 * A key has checks of one kind. All keys of one organization start with the same text up to the first colon, so that a cluster can keep them
 * together.
 */
export type LimitCheck = WindowCheck | SlotCheck | PauseCheck

/**
 * At most `limit` units in any window of `windowMs`, and up to `burst` within one episode. An episode opens with the
 * first unit above `limit` and lasts `burstMs`; the next opens no sooner than `windowMs` later.
 */
export interface WindowCheck {
  readonly kind: 'window'
  /** Identifies the count. All checks of a key have the same `windowMs`. */
  readonly key: string
  readonly limit: number
  readonly windowMs: number
  /** At least `limit`. Equal: no bursts. */
  readonly burst: number
  readonly burstMs: number
  /** Units of this call, at least 1. */
  readonly cost: number
  /** True: counts as many of the units as are left, and refuses only if none is. */
  readonly partial?: boolean | undefined
  /**
   * For keys that strangers choose: a limiter with counts in its own memory counts under this key if it has no room for
   * more such keys. Other limiters may ignore it.
   */
  readonly overflow?: string | undefined
}

/** One of `limit` slots, held under a token of the caller. A slot that is not renewed is freed after its lease. */
export interface SlotCheck {
  readonly kind: 'slots'
  readonly key: string
  readonly limit: number
  readonly token: string
  readonly leaseMs: number
}

/** Refused while `key` is paused. */
export interface PauseCheck {
  readonly kind: 'pause'
  readonly key: string
}

export interface LimitDecision {
  /** True: every check allows. */
  readonly allowed: boolean
  /** One state per check, in order. */
  readonly states: readonly LimitState[]
  /** Nothing was evaluated or counted: the limiter's server is away, and the limiter is configured to allow then. */
  readonly uncounted?: true
}

export interface LimitState {
  readonly allowed: boolean
  /** Units that this call counted: `cost`, or fewer with `partial`; 0 for a refusal. */
  readonly granted: number
  /** Units or slots left after this call; 0 during a burst. */
  readonly remaining: number
  /** Milliseconds until `remaining` rises next; 0 if nothing is used. */
  readonly resetInMs: number
  /**
   * Milliseconds until the same check would allow, if nothing else is counted meanwhile: exact, and 0 if it allows now.
   * For slots an upper bound. Infinity if `cost` exceeds every ceiling.
   */
  readonly retryAfterMs: number
}
