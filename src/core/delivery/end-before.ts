import type { NotificationFailure } from '../notification/notification.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { ProviderState } from './provider-state.ts'
import { maxAttempts } from './retry-delay.ts'

export type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

export const EXPIRED = 'The notification expired before it could be delivered.'

export function isExpired({ notification: { expiresInMs } }: NotificationJob): boolean {
  return expiresInMs !== null && expiresInMs <= 0
}

/** Why a job ends without another attempt. Null: it does not. */
export function endBefore(job: NotificationJob, { provider }: ProviderState): NotificationFailure | null {
  const { recovered, attempts, outages, earlierAttempts } = job
  // A message that repeatedly kills its process fails in the end; outages do not count.
  const own = attempts - earlierAttempts - outages
  if (recovered && (provider.onAmbiguous === 'fail' || own >= maxAttempts(provider.retry))) {
    return {
      code: 'delivery_unknown',
      message: 'The process ended while the provider was being called; whether it accepted is unknown.',
    }
  }
  return isExpired(job) ? { code: 'expired', message: EXPIRED } : null
}
