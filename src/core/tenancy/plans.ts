import type { PlanRetention } from './retention.ts'

/** The limits of an organization. Null: unlimited. */
export interface Plan {
  /** API requests in any sliding window of `windowMs`. */
  readonly requests: { readonly limit: number; readonly windowMs: number } | null
  /** Notifications, with each copy of a mail, accepted in any sliding hour. */
  readonly notificationsPerHour: number | null
  /** Concurrent requests. */
  readonly concurrentRequests: number | null
  /** The same in a calendar month, UTC. */
  readonly notificationsPerMonth: number | null
  /**
   * Bytes of all that it stores besides notifications: templates with their versions, layouts, messages, preferences,
   * uploads, suppressions, keys; each with 200 for its row.
   */
  readonly storedBytes: number | null
  /** How long its notifications are kept. Default: as in the option `retention`. */
  readonly retention?: PlanRetention | undefined
}

/** Plans by name. */
export type Plans = Readonly<Record<string, Plan>>

const MiB = 1024 * 1024
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
  storedBytes: null,
}

/** Plans with request limits per minute: the default. */
export const perMinutePlans: Readonly<Record<'free' | 'starter' | 'pro' | 'enterprise', Plan>> = {
  free: {
    requests: perMinute(100),
    notificationsPerHour: 1_000,
    concurrentRequests: 5,
    notificationsPerMonth: 10_000,
    storedBytes: 100 * MiB,
  },
  starter: {
    requests: perMinute(1_000),
    notificationsPerHour: 10_000,
    concurrentRequests: 10,
    notificationsPerMonth: 100_000,
    storedBytes: 1_024 * MiB,
  },
  pro: {
    requests: perMinute(10_000),
    notificationsPerHour: 100_000,
    concurrentRequests: 50,
    notificationsPerMonth: 1_000_000,
    storedBytes: 10_240 * MiB,
  },
  enterprise: UNLIMITED,
}

/** Plans with request limits per second; the monthly quotas and the bytes are the same. */
export const perSecondPlans: Readonly<Record<'free' | 'pro' | 'team' | 'scale', Plan>> = {
  free: { ...UNLIMITED, requests: perSecond(10), notificationsPerMonth: 10_000, storedBytes: 100 * MiB },
  pro: { ...UNLIMITED, requests: perSecond(50), notificationsPerMonth: 1_000_000, storedBytes: 10_240 * MiB },
  team: { ...UNLIMITED, requests: perSecond(100) },
  scale: UNLIMITED,
}

/** Length of a burst: 20 % above the limit for ten seconds. */
export const BURST_MS = 10_000

/** The limit during a burst. */
export function burstOf(limit: number): number {
  return Math.floor(limit * 1.2)
}
