import { createRetryPlan } from '../../src/core/notification/retry-plan.ts'
import { REMOVED } from '../../src/core/notification/sensitive.ts'
import type {
  NotificationFilter,
  RetryAnswer,
  RetryRequest,
} from '../../src/core/ports/storage/notifications.ts'
import { decodeCursor, encodeCursor } from '../../src/core/records/cursor.ts'
import { addFacts } from './facts.ts'
import { createJob } from './jobs.ts'
import type { MemoryState, StoredNotification } from './state.ts'

/** Retries one step of an organization's dead letters. @param matches the filter except the status */
export function retry(
  state: MemoryState,
  request: RetryRequest,
  matches: (row: StoredNotification, filter: NotificationFilter) => boolean,
): RetryAnswer {
  const { filter, most, after, dryRun } = request
  const [from = -1] = after === undefined ? [] : decodeCursor(after, 1)
  const rows = [...(state.notificationsOf.get(filter.organizationId) ?? [])].filter(
    (row) => row.number > from && isDead(row) && matches(row, filter),
  )
  const looked = rows.slice(0, most)
  const plan = createRetryPlan(request, state.now())
  for (const row of looked) {
    const { channel, expiresAt, content } = row
    const place = plan.place({ channel, expiresAt, removed: content.startsWith(REMOVED) })
    if (place !== null && dryRun !== true) takeUp(state, row, place.lane, place.dueAt)
  }
  const { retried, expired, unroutable, contentRemoved, nextDueAt } = plan
  const last = looked.at(-1)
  const next = rows.length > looked.length && last !== undefined ? encodeCursor([last.number]) : null
  return { retried, expired, unroutable, contentRemoved, nextDueAt, next }
}

function isDead(row: StoredNotification): boolean {
  return row.facts.status === 'failed' && row.job === undefined
}

function takeUp(state: MemoryState, row: StoredNotification, lane: string, dueAt: number): void {
  addFacts(state, row, [{ type: 'retried' }], 'engine')
  row.job = createJob(state, {
    lane,
    organizationId: row.organizationId,
    high: row.priority === 'high',
    subject: { kind: 'notification', notification: row },
    dueAt,
    attempts: Math.max(0, ...row.timeline.map(({ fact }) => fact?.attempt ?? 0)),
  })
}
