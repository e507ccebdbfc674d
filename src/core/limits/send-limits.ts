import type { NotifierError } from '../errors/notifier-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { LimitState, RateLimiter } from '../ports/rate-limiter.ts'
import type { AcceptRequest } from '../ports/storage/accept.ts'
import type { PlanFinder } from '../tenancy/plan-of.ts'
import { limitError, type Shortfall } from './limit-error.ts'
import { hourlyCheck, stateOf } from './request-limits.ts'

/** The limits on an organization's notifications. */
export interface SendLimits {
  /** Counts up to `cost` notifications against the hourly limit. */
  take(organizationId: string, cost: number): Promise<Reservation>
  /** Like {@link take}, without counting. */
  peek(organizationId: string, cost: number): Promise<Reservation>
  /** The error of a notification over the monthly quota. */
  quotaError(organizationId: string): Promise<NotifierError>
}

export interface Reservation {
  /** Number of granted notifications. */
  readonly granted: number
  /** The error of the others. Null: all were granted. */
  readonly refusal: ((short: Shortfall) => NotifierError) | null
  /** The monthly quota for the accept. */
  readonly quota: Pick<AcceptRequest, 'quota'>
  /** Returns granted units to the hourly limit, because they were not stored. */
  refund(units: number): Promise<void>
}

const NO_QUOTA: Reservation['quota'] = Object.freeze({})

const nothingCounted: Reservation['refund'] = async () => {}

export function createSendLimits(limiter: RateLimiter, plans: PlanFinder, clock: Clock): SendLimits {
  async function reserve(
    verb: 'consume' | 'peek',
    organizationId: string,
    cost: number,
  ): Promise<Reservation> {
    const found = plans.of(organizationId)
    const { plan } = found instanceof Promise ? await found : found
    const month = plan.notificationsPerMonth
    const quota = month === null ? NO_QUOTA : { quota: { period: monthOf(clock.now()), limit: month } }
    const limit = plan.notificationsPerHour
    if (limit === null || cost === 0) {
      return { granted: cost, refusal: null, quota, refund: nothingCounted }
    }
    const check = hourlyCheck(organizationId, limit, cost)
    const { states, uncounted } = await limiter[verb]([check])
    const counted = verb === 'consume' && uncounted !== true
    // A failed refund must not hide the original error; the units expire anyway.
    const refund = counted ? (units: number) => limiter.refund(check, units).catch(() => {}) : nothingCounted
    const state = states[0] as LimitState
    if (state.granted === cost) return { granted: cost, refusal: null, quota, refund }
    // Some were granted: the next may go when the oldest unit expires.
    const retryAfterMs = state.granted === 0 ? state.retryAfterMs : state.resetInMs
    const refusal = (short: Shortfall) =>
      limitError(stateOf('hourly_notifications', limit, state, clock), retryAfterMs, short)
    return { granted: state.granted, refusal, quota, refund }
  }

  return {
    take: (organizationId, cost) => reserve('consume', organizationId, cost),
    peek: (organizationId, cost) => reserve('peek', organizationId, cost),
    async quotaError(organizationId) {
      const { plan } = await plans.of(organizationId)
      const now = clock.now()
      const resetAt = nextMonth(now)
      const limit = plan.notificationsPerMonth ?? 0
      return limitError(
        { resource: 'monthly_notifications', limit, remaining: 0, resetAt: Math.ceil(resetAt / 1000) },
        resetAt - now,
      )
    },
  }
}

/** The calendar month in UTC, `2026-11`. */
export function monthOf(time: number): string {
  const date = new Date(time)
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`
}

/** Start of the next calendar month in UTC, in epoch milliseconds. */
export function nextMonth(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
