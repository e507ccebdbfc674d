import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { RateLimitState } from './records.ts'

/** The error of a limit. `details` names the limit as the headers do. */
export function limitError(state: RateLimitState, retryAfterMs: number): NotifierError {
  const code =
    state.resource === 'monthly_notifications' ? 'notification_quota_exceeded' : 'rate_limit_exceeded'
  return new NotifierError(code, {
    message: MESSAGES[state.resource] ?? `The limit "${state.resource}" of ${state.limit} is used up.`,
    retryAfterMs,
    details: { ...state, remaining: 0 },
  })
}

const MESSAGES: Readonly<Record<string, string>> = {
  open_bodies: 'Too many request bodies from this address are incomplete.',
  account: 'The account is temporarily restricted, because it stayed far above its limits.',
  concurrency: 'Too many requests are running at the same time.',
  monthly_notifications: 'The monthly notification quota is used up.',
  hourly_notifications: 'Too many notifications were sent within an hour.',
}
