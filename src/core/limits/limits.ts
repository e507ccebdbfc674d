import type { Clock } from '../ports/clock.ts'
import type { LimitState, RateLimiter, WindowCheck } from '../ports/rate-limiter.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { PlanFinder } from '../tenancy/plan-of.ts'
import type { Plan } from '../tenancy/plans.ts'
import type { AccountLimits, Admissions, LimitUsage, StoredUsage } from './model.ts'
import { hourlyCheck, type RequestLimits, windowCheck } from './request-limits.ts'
import { monthOf, nextMonth } from './send-limits.ts'

/** The limits of an organization, and counting requests against them. */
export function createLimits(
  storage: Storage,
  limiter: RateLimiter,
  plans: PlanFinder,
  requests: RequestLimits,
  clock: Clock,
): { get(organizationId: string): Promise<AccountLimits> } & Omit<Admissions, 'closed'> {
  async function usageOf(check: WindowCheck): Promise<LimitUsage> {
    const { limit, windowMs } = check
    // A peek answers as if one more unit were counted; this must not open a burst.
    const { states } = await limiter.peek([{ ...check, burst: limit }])
    const { remaining, granted, resetInMs } = states[0] as LimitState
    const left = remaining + granted
    return {
      limit,
      used: limit - left,
      remaining: left,
      resetAt: new Date(clock.now() + (left === limit ? 0 : resetInMs)).toISOString(),
      windowSeconds: windowMs / 1000,
    }
  }

  async function storedUsage(
    organizationId: string,
    { storedBytes: limit }: Plan,
  ): Promise<StoredUsage | null> {
    if (limit === null) return null
    const used = await storage.records.stored(organizationId)
    return { limit, used, remaining: Math.max(0, limit - used) }
  }

  return {
    async get(organizationId) {
      const { name, plan } = await plans.of(organizationId)
      const { requests: window, notificationsPerHour: hourly, notificationsPerMonth: month } = plan
      const now = clock.now()
      const [requests, notificationsPerHour, used, storedBytes, { states }] = await Promise.all([
        window === null
          ? null
          : usageOf(windowCheck(`${organizationId}:requests`, window.limit, window.windowMs)),
        hourly === null ? null : usageOf(hourlyCheck(organizationId, hourly, 1)),
        month === null ? 0 : storage.quotaUsed(organizationId, monthOf(now)),
        storedUsage(organizationId, plan),
        limiter.peek([{ kind: 'pause', key: `${organizationId}:account` }]),
      ])
      const restrictedMs = states[0]?.retryAfterMs ?? 0
      return {
        organizationId,
        plan: name,
        limits: {
          requests,
          concurrentRequests: plan.concurrentRequests === null ? null : { limit: plan.concurrentRequests },
          notificationsPerHour,
          notificationsPerMonth:
            month === null
              ? null
              : {
                  limit: month,
                  used,
                  remaining: Math.max(0, month - used),
                  resetAt: new Date(nextMonth(now)).toISOString(),
                  windowSeconds: null,
                },
          storedBytes,
        },
        restriction: restrictedMs === 0 ? null : { until: new Date(now + restrictedMs).toISOString() },
      }
    },
    admitBody: requests.admitBody,
    countRefusedBody: requests.countRefusedBody,
    async admit(who, limit) {
      if (limit === null || 'operatorKeyId' in who) return requests.admitUncounted()
      if ('caller' in who) return requests.admitCaller(who)
      return 'address' in who
        ? requests.admitAddress(who.address, limit)
        : requests.admit(who.organizationId, limit)
    },
  }
}
