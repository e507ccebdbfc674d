/** The limits of an organization. Null: unlimited. */
export interface Plan {
  /** API requests in any sliding window of `windowMs`. */
  readonly requests: { readonly limit: number; readonly windowMs: number } | null
  /** Notifications accepted in any sliding hour. Each copy of a mail counts as one more. */
  readonly notificationsPerHour: number | null
  /** Concurrent requests. */
  readonly concurrentRequests: number | null
  /** Notifications accepted in a calendar month, UTC. Each copy of a mail counts as one more. */
  readonly notificationsPerMonth: number | null
}

/** Plans by name. */
export type Plans = Readonly<Record<string, Plan>>

const MINUTE = 60_000
const SECOND = 1_000

const perMinute = (limit: number): Plan['requests'] => ({ limit, windowMs: MINUTE })
const perSecond = (limit: number): Plan['requests'] => ({ limit, windowMs: SECOND })

/** No limits: the plan of `org_default`, and of `custom` until the application defines it. */
export const UNLIMITED: Plan = {
  requests: null,
  notificationsPerHour: null,
  concurrentRequests: null,
  notificationsPerMonth: null,
}

/** Plans with request limits per minute: the default. */
export const perMinutePlans: Readonly<Record<'free' | 'starter' | 'pro' | 'enterprise', Plan>> = {
  free: {
    requests: perMinute(100),
    notificationsPerHour: 1_000,
    concurrentRequests: 5,
    notificationsPerMonth: 10_000,
  },
  starter: {
    requests: perMinute(1_000),
    notificationsPerHour: 10_000,
    concurrentRequests: 10,
    notificationsPerMonth: 100_000,
  },
  pro: {
    requests: perMinute(10_000),
    notificationsPerHour: 100_000,
    concurrentRequests: 50,
    notificationsPerMonth: 1_000_000,
  },
  enterprise: UNLIMITED,
}

/** Plans with request limits per second; the monthly quotas are the same. */
export const perSecondPlans: Readonly<Record<'free' | 'pro' | 'team' | 'scale', Plan>> = {
  free: { ...UNLIMITED, requests: perSecond(10), notificationsPerMonth: 10_000 },
  pro: { ...UNLIMITED, requests: perSecond(50), notificationsPerMonth: 1_000_000 },
  team: { ...UNLIMITED, requests: perSecond(100) },
  scale: UNLIMITED,
}

/** Length of a burst: 20 % above the limit for ten seconds. */
export const BURST_MS = 10_000

/** The limit during a burst. */
export function burstOf(limit: number): number {
  return Math.floor(limit * 1.2)
}
