/**
 * What has a request limit: an endpoint with one of its own, what needs no key (`public`), what links
 * in messages lead to (`links`), or everything else together. Receipts are not limited: a provider sends as many as
 * there are messages.
 */
export type LimitedResource =
  | 'requests'
  | 'templates.list'
  | 'templates.create'
  | 'logs.list'
  | 'public'
  | 'receipts'
  | 'links'

/** One limit as it stands: what the X-RateLimit headers say. */
export interface RateLimitState {
  /**
   * `requests`, an endpoint, `concurrency`, `hourly_notifications`, `monthly_notifications`, `account`, `address`,
   * `public`, `links`, `session` or `open_bodies`; `unlimited` where the plan limits nothing, and then `limit` and `remaining` are
   * {@link NO_LIMIT}; `service` where nothing passes at all.
   */
  readonly resource: string
  /** Most units in the window. */
  readonly limit: number
  readonly remaining: number
  /** Unix seconds at which `remaining` next rises. */
  readonly resetAt: number
}

/**
 * What stands for "no limit" where a number must be: the
 * largest that a client which reads 32-bit integers can take.
 */
export const NO_LIMIT = 2_147_483_647

/** A request that was counted. */
export interface Admission {
  /** The limit that is nearest to a refusal. */
  readonly state: RateLimitState
  /** Gives the concurrency slot back. Harmless when repeated. */
  release(): Promise<void>
}

/** The limits of an account; null where the plan has no limit. */
export interface AccountLimits {
  readonly organizationId: string
  /** Name of the plan. */
  readonly plan: string
  readonly limits: {
    readonly requests: LimitUsage | null
    readonly concurrentRequests: { readonly limit: number } | null
    readonly notificationsPerHour: LimitUsage | null
    readonly notificationsPerMonth: LimitUsage | null
  }
  /** Set while sustained overuse restricts the organization. */
  readonly restriction: { readonly until: string } | null
}

export interface LimitUsage {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  /** ISO 8601: when `remaining` next rises; now, where nothing is used. */
  readonly resetAt: string
  /** Length of the window; null: a calendar month. */
  readonly windowSeconds: number | null
}
