import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { TimelineEntry } from '../ports/storage/notifications.ts'
import type { Storage } from '../ports/storage/storage.ts'

type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

/** First delay, doubled each time up to the longest. */
const FIRST_DELAY_MS = 30_000
const LONGEST_DELAY_MS = 15 * 60_000
const MOST_DOUBLINGS = 10

/**
 * How long a message waits after a fault of something that is asked about it: who its recipient is, whether it may go. From
 * the history, because other processes may have failed before.
 */
export async function laterDelay(
  { notifications }: Pick<Storage, 'notifications'>,
  { notification: { id, expiresInMs } }: NotificationJob,
): Promise<number> {
  const entries = await notifications.timeline(id)
  const last = entries.findLastIndex((entry) => !isFault(entry))
  const delayMs = FIRST_DELAY_MS * 2 ** Math.min(entries.length - last - 1, MOST_DOUBLINGS)
  return Math.min(delayMs, LONGEST_DELAY_MS, expiresInMs ?? LONGEST_DELAY_MS)
}

/** No attempt was made, because something could not be found out. */
function isFault({ type, fact }: TimelineEntry): boolean {
  return (
    type === 'attempt_failed' &&
    fact?.notSent === true &&
    fact.attempt === undefined &&
    fact.code === 'service_unavailable'
  )
}
