import type { ProviderRegistry } from '../channels/provider-registry.ts'
import { durabilityOf } from '../errors/durability.ts'
import type { JobCount } from '../ports/storage/job-counts.ts'
import type { TimelineEntry } from '../ports/storage/notifications.ts'
import type { NotificationRecord } from './model.ts'
import type { Notification } from './notification.ts'

const SUPPRESSED: readonly string[] = ['blocked_recipient', 'unsubscribed']

/**
 * What can be done with a notification.
 *
 * @param job null: its delivery has ended
 * @param timeline its history in order
 * @param now the current time in epoch milliseconds
 */
export function actionsOf(
  { status, channel, to, content, error, expiresAt }: Notification,
  job: JobCount | null,
  timeline: readonly TimelineEntry[],
  { channels }: Pick<ProviderRegistry, 'channels'>,
  now: number,
): NotificationRecord['actions'] {
  const round = timeline.slice(timeline.findLastIndex(({ type }) => type === 'retried') + 1)
  const waits = job !== null && job.state !== 'running'
  const untouched =
    waits && job.state !== 'retrying' && round.every(({ fact }) => fact?.attempt === undefined)
  const deliverable = content.removed !== true && channels.includes(channel)
  const code = error?.code ?? ''
  const suppressed =
    SUPPRESSED.includes(code) ||
    timeline.some(({ fact }) => fact?.suppress !== undefined && (fact.address ?? to) === to)
  return {
    cancel: waits,
    reschedule: untouched && status === 'scheduled',
    resend: job === null && deliverable && !suppressed,
    retry:
      status === 'failed' &&
      deliverable &&
      (expiresAt === null || expiresAt > now) &&
      durabilityOf(code) !== 'permanent',
  }
}
