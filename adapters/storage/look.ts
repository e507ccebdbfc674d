import type { LogFilter } from '../../src/ports/storage/logs.ts'
import type { NotificationFilter } from '../../src/ports/storage/notifications.ts'

/**
 * So many rows a page of a filtered list looks at, at most, beside those that it skips: what is looked at is bounded before
 * it is filtered, so that a page stays short however few match.
 */
export const LOOK = 20_000

/** Whether a list of notifications passes rows by that stand in the index it walks along. */
export function passesBy({ status, ids, ...filter }: NotificationFilter): boolean {
  const { channel, to, templateId, code, provider } = filter
  const others = [channel, to, templateId, code, provider]
  return ids === undefined && ((status ?? 'failed') !== 'failed' || others.some((one) => one !== undefined))
}

/** The same of the delivery log. */
export function passesEntriesBy({ channel, status, notificationId }: LogFilter): boolean {
  return notificationId === undefined && (channel !== undefined || status !== undefined)
}

/** Whether only what has a job has this status. */
export function hasJob(status: NotificationFilter['status']): boolean {
  return status === 'queued' || status === 'scheduled'
}
