/**
 * Counts what is limited: requests, notifications per hour, concurrent requests, a provider's pace.
 *
 * All processes that share a limiter share its counts. The limiter owns its clock. A call that takes longer than ten seconds,
 * or answers with no decision, has failed.
 */
export interface RateLimiter {
  /** Gets what it needs of this machine, such as an optional package. What it rejects with, the start rejects with. It has 30 seconds. */
  open?(): Promise<void>
  /**
   * Judges several checks together: all are evaluated, and only if every one allows is anything counted, atomically.
   * Of parallel calls that compete for the last unit exactly one gets it. Never waits for a limit.
   *
   * @throws NotifierError `service_unavailable` when the limiter cannot decide
   */
  consume(checks: readonly LimitCheck[]): Promise<LimitDecision>
  /** Judges the same way and counts nothing. */
  peek(checks: readonly LimitCheck[]): Promise<LimitDecision>
  /**
   * Takes back units that {@link RateLimiter.consume} counted and that were not used, the youngest of the window: it ends as
   * many milliseconds too soon as passed between the two calls. Harmless when they have run out. A burst that they opened
   * stays.
   *
   * @param check as it was counted; `cost` does not matter
   * @param units at least 1
   */
  refund(check: WindowCheck, units: number): Promise<void>
  /** Refuses every `pause` check of `key` for `ms`; a longer pause that holds already stays. */
  pause(key: string, ms: number): Promise<void>
  /** Extends a slot to `leaseMs` from now. False: it had expired, and may be another's. */
  renew(key: string, token: string, leaseMs: number): Promise<boolean>
  /** Gives a slot back. Harmless when repeated, or when the slot has expired. */
  release(key: string, token: string): Promise<void>
  /** Releases what the limiter holds. Idempotent. */
  close(): Promise<void>
}

/** Keys of one organization are the same up to their first colon, so that a cluster can keep them together. */
export type LimitCheck = WindowCheck | SlotCheck | PauseCheck

/**
 * At most `limit` units in any window of `windowMs`, and up to `burst` inside one episode:
 * an episode opens with the first unit above `limit`, lasts `burstMs`, and the next opens no sooner than `windowMs`
 * after it did.
 */
export interface WindowCheck {
  readonly kind: 'window'
  /** Names one count. All checks of a key have the same `windowMs`. */
  readonly key: string
  readonly limit: number
  readonly windowMs: number
  /** At least `limit`; equal: no bursts. */
  readonly burst: number
  readonly burstMs: number
  /** Units of this call; at least 1. */
  readonly cost: number
  /** True: takes as many of the units as there are, and is refused only when there is none. */
  readonly partial?: boolean | undefined
  /**
   * Given where strangers choose the key: what a limiter that keeps counts in its own memory counts in place of `key`
   * when it has no room for more such keys. Others, whose keys expire by themselves, need not look at it.
   */
  readonly overflow?: string | undefined
}

/** One of `limit` slots, taken under a token of the caller's. A slot that is not renewed comes back by itself. */
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
  /** True when every check allows. */
  readonly allowed: boolean
  /** One state per check, in order. */
  readonly states: readonly LimitState[]
  /** Nothing was judged or counted: the limiter's server is away, and it was told to allow that. */
  readonly uncounted?: true
}

export interface LimitState {
  readonly allowed: boolean
  /** Units counted by this call: `cost`, or fewer when `partial`; 0 when the decision is a refusal. */
  readonly granted: number
  /** Units or slots left after this call; 0 while bursting. */
  readonly remaining: number
  /** Milliseconds until `remaining` next rises; 0 when nothing is used. */
  readonly resetInMs: number
  /**
   * Milliseconds after which the same check allows if nothing else is counted meanwhile: exact, and 0 when it allows.
   * Of slots, the most that it can take. Infinity when `cost` is above every ceiling.
   */
  readonly retryAfterMs: number
}
