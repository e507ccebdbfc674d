import { entryOf } from '../errors/catalogue.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { RateLimitState } from './model.ts'

/** What the first notification that does not fit needs. */
export interface Shortfall {
  /** Units that it counts for: one for each address and copy. */
  readonly needed: number
  /** Units that are left. */
  readonly remaining: number
}

/** The error of a limit. `details` names the limit as the headers do. @param short absent: nothing is left */
export function limitError(state: RateLimitState, retryAfterMs: number, short?: Shortfall): NotifierError {
  const code =
    state.resource === 'monthly_notifications' ? 'notification_quota_exceeded' : 'rate_limit_exceeded'
  return new NotifierError(code, {
    message:
      short === undefined || short.needed <= 1
        ? `${faultOf(state)} ${entryOf(code).action}`
        : shortOf(state, short),
    retryAfterMs,
    details: { ...state, remaining: 0, ...short },
  })
}

function faultOf({ resource, limit }: RateLimitState): string {
  return FAULTS[resource] ?? `The limit "${resource}" of ${limit} is used up.`
}

function shortOf({ limit }: RateLimitState, { needed, remaining }: Shortfall): string {
  const later = needed > limit ? 'Send' : 'Wait, or send'
  return `${remaining} of ${limit} notifications are left within the hour, and the first that does not fit counts as ${needed}, one for each address and copy. ${later} it to fewer.`
}

const FAULTS: Readonly<Record<string, string>> = {
  open_bodies: 'Too many request bodies from this address are incomplete.',
  open_batches: 'Too many batches above 1 MiB of this organization are being received or processed.',
  account: 'The account is temporarily restricted, because it stayed far above its limits.',
  concurrency: 'Too many requests are running at the same time.',
  monthly_notifications: 'The monthly notification quota is used up.',
  hourly_notifications: 'Too many notifications were sent within an hour.',
}
