import type { Grant, Permission } from '../access/permissions.ts'
/** What requests of a route count against: those of an organization, or without a key those from an address. */
export interface RouteLimit {
  /** As in the X-RateLimit headers. Limits of one name share a count. */
  readonly name: string
  /** The same on all plans. Null: as many as the plan of the organization allows, and few without a valid key. */
  readonly perMinute: number | null
  /** True: its requests are admitted under maintenance, too. */
  readonly underMaintenance?: true
}

/** The state of a limit, as in the X-RateLimit headers. */
export interface RateLimitState {
  /**
   * The name of a {@link RouteLimit} or of {@link OwnLimits}, `concurrency`, `hourly_notifications`,
   * `monthly_notifications`, `account`, `address`, `open_bodies` or `open_batches`; `unlimited` if the plan has no limit,
   * with {@link NO_LIMIT} as `limit` and `remaining`; `service` if nothing is allowed at all.
   */
  readonly resource: string
  /** Maximum number of units in the window. */
  readonly limit: number
  readonly remaining: number
  /** Unix seconds of the next rise of `remaining`. */
  readonly resetAt: number
}

/** A number for "no limit": the largest 32-bit integer. */
export const NO_LIMIT = 2_147_483_647

/** A counted request. */
export interface Admission {
  /** The limit closest to a refusal. */
  readonly state: RateLimitState
  /** Frees the concurrency slot. Idempotent. */
  release(): Promise<void>
}

/** The account that a request counts against. */
export type Counted =
  | { readonly organizationId: string }
  | { readonly address: string }
  | { readonly operatorKeyId: string }
  | OwnLimits

/**
 * The party that a body which is still arriving counts against: the organization of the request, or the client without
 * a key.
 */
export type BodyOwner = { readonly organizationId: string } | { readonly address: string }

export interface Admissions {
  /**
   * Counts an API request before its body is read. Release the admission once, when the answer is sent or the client
   * has disconnected.
   *
   * @param who the organization of the key, or the client's address without a valid key; an operator key has no request
   *   limit and uses up none of an organization
   * @param limit null: nothing is counted
   * @throws NotifierError `rate_limit_exceeded`
   */
  admit(who: Counted, limit: RouteLimit | null): Promise<Admission>
  /**
   * Admits an unfinished body without a key. Counts nothing.
   *
   * @throws NotifierError `rate_limit_exceeded` if too many bodies of the address were refused
   */
  admitBody(address: string): Promise<void>
  /** Counts a body that was refused because of its owner: towards the overuse of an organization, or by address. */
  countRefusedBody(owner: BodyOwner): Promise<void>
  /** The rate headers while nothing is allowed (maintenance, an outage) for `retryAfterMs`. */
  closed(retryAfterMs: number): RateLimitState
}

/** The limits of an account. Null: no limit. */
export interface AccountLimits {
  readonly organizationId: string
  /** Name of the plan. */
  readonly plan: string
  readonly limits: {
    readonly requests: LimitUsage | null
    readonly concurrentRequests: { readonly limit: number } | null
    readonly notificationsPerHour: LimitUsage | null
    readonly notificationsPerMonth: LimitUsage | null
    /** Bytes of all that the organization stores besides notifications. */
    readonly storedBytes: StoredUsage | null
  }
  /** Set while sustained overuse restricts the organization. */
  readonly restriction: { readonly until: string } | null
}

/** A limit of what is stored, without a window. */
export interface StoredUsage {
  readonly limit: number
  readonly used: number
  readonly remaining: number
}

export interface LimitUsage {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  /** ISO 8601 time of the next rise of `remaining`; now if nothing is used. */
  readonly resetAt: string
  /** Length of the window. Null: a calendar month. */
  readonly windowSeconds: number | null
}

/** The limits of a caller who sees several organizations and uses up no limit of theirs. */
export interface OwnLimits {
  /** As in the X-RateLimit headers. */
  readonly name: string
  readonly caller: string
  readonly perMinute: number
  /** Most requests under way at a time. */
  readonly concurrent: number
}

/** Who asks. */
export interface Identity {
  readonly id: string
  /** Name of the key. */
  readonly name: string
  readonly permission: Permission
  readonly grants: readonly Grant[]
  /** Ids of the organizations that requests may name. `all`: an operator key. */
  readonly organizations: 'all' | readonly string[]
}
