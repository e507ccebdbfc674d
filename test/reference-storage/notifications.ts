import { matchesLabels } from '../../src/core/notification/labels.ts'
import type { Notification, NotificationContent } from '../../src/core/notification/notification.ts'
import { rescheduled } from '../../src/core/notification/reschedule.ts'
import { wholeContent } from '../../src/core/notification/stored-content.ts'
import type { LogEntry, LogFilter, LogRepository } from '../../src/core/ports/storage/logs.ts'
import type {
  CancelAnswer,
  NotificationFilter,
  NotificationRepository,
  RescheduleAnswer,
  TimelineEntry,
} from '../../src/core/ports/storage/notifications.ts'
import { countLog } from './count-log.ts'
import { addFacts, labelsOf } from './facts.ts'
import { makeDue, removeJob } from './jobs.ts'
import { pageOf } from './page.ts'
import { retry } from './retry.ts'
import { type MemoryState, type StoredNotification, setContent } from './state.ts'

export function memoryNotifications(state: MemoryState): NotificationRepository {
  return {
    async get(id) {
      const stored = state.notifications.get(id)
      return stored === undefined ? null : toNotification(stored, stored.attachments)
    },
    async states(ids) {
      return ids.map((id) => {
        const stored = state.notifications.get(id)
        return stored === undefined ? null : { status: stored.facts.status, to: stored.to }
      })
    },
    async list(filter, page) {
      const rows = state.notificationsOf.get(filter.organizationId) ?? []
      return pageOf(
        [...rows].filter((row) => matches(row, filter)),
        page,
        (row) => toNotification(row, null),
      )
    },
    async failures({ organizationId, from, until }, page) {
      const filter: NotificationFilter = { organizationId, from, until, status: 'failed' }
      const rows = [...(state.notificationsOf.get(organizationId) ?? [])].filter((row) =>
        matches(row, filter),
      )
      return pageOf(rows, page, ({ channel, createdAt, facts: { provider, error } }) => ({
        channel,
        provider,
        createdAt,
        code: error?.code ?? 'provider_error',
      }))
    },
    async timeline(id) {
      return [...(state.notifications.get(id)?.timeline ?? [])]
    },
    async cancel(id, content) {
      return cancel(state, id, content)
    },
    async reschedule(id, sendAt) {
      return reschedule(state, id, sendAt)
    },
    async retry(request) {
      return retry(state, request, matches)
    },
  }
}

export function memoryLogs(state: MemoryState): LogRepository {
  return {
    async list(filter, page) {
      const log = state.logOf.get(filter.organizationId)?.values() ?? []
      const rows = [...log].filter(({ notification, entry }) => logged(notification, entry, filter))
      return pageOf(rows, page, ({ notification, entry }) => toLogEntry(notification, entry))
    },
    async count(span, most) {
      return countLog(state, span, most)
    },
  }
}

/** @param attachments null: omit them */
function toNotification(stored: StoredNotification, attachments: string | null): Notification {
  const { id, organizationId, channel, to, priority, sendAt, expiresAt, createdAt } = stored
  const { status, provider, providerMessageId, error } = stored.facts
  const content = wholeContent({ content: stored.content, attachments })
  const identity = { id, organizationId, channel, to, status, content, priority }
  const resendOf = stored.resendOf ?? null
  return {
    ...identity,
    ...labelsOf(stored),
    sendAt,
    expiresAt,
    provider,
    providerMessageId,
    error,
    createdAt,
    resendOf,
  }
}

function matches(row: StoredNotification, filter: NotificationFilter): boolean {
  const { channel, status, to, templateId, from, until, code, provider, ids } = filter
  return (
    (channel === undefined || row.channel === channel) &&
    (status === undefined || row.facts.status === status) &&
    (to === undefined || row.to === to) &&
    (templateId === undefined || templateOf(row)?.id === templateId) &&
    (from === undefined || row.createdAt >= from) &&
    (until === undefined || row.createdAt < until) &&
    (code === undefined || row.facts.error?.code === code) &&
    (provider === undefined || row.facts.provider === provider) &&
    (ids === undefined || ids.includes(row.id)) &&
    matchesLabels(row, filter)
  )
}

function templateOf(row: StoredNotification): { readonly id: string; readonly name: string } | undefined {
  return JSON.parse(row.content).template
}

function logged(notification: StoredNotification, entry: TimelineEntry, filter: LogFilter): boolean {
  return (
    (filter.channel === undefined || notification.channel === filter.channel) &&
    (filter.status === undefined || entry.status === filter.status) &&
    (filter.notificationId === undefined || notification.id === filter.notificationId) &&
    matchesLabels(notification, filter)
  )
}

function toLogEntry(notification: StoredNotification, entry: TimelineEntry): LogEntry {
  return {
    ...entry,
    id: `log_${notification.id.slice('notif_'.length)}_${entry.sequence}`,
    notificationId: notification.id,
    channel: notification.channel,
    to: notification.to,
    template: templateOf(notification)?.name ?? null,
    ...labelsOf(notification),
  }
}

/** A notification whose first attempt has not begun; a text tells why there is none. */
function unbegun(state: MemoryState, id: string) {
  const notification = state.notifications.get(id)
  if (notification === undefined) return 'unknown'
  const { job } = notification
  if (job === undefined) return 'ended'
  return job.attempts > job.earlierAttempts ? 'too_late' : { notification, job }
}

function reschedule(state: MemoryState, id: string, asked: number | null): RescheduleAnswer {
  const found = unbegun(state, id)
  if (typeof found === 'string') return { kind: found }
  const { notification, job } = found
  if (notification.facts.status !== 'scheduled') return { kind: 'not_scheduled' }
  const { createdAt, facts } = notification
  const change = rescheduled(asked, { createdAt, sequence: facts.sequence }, state.now())
  if (change === null) return { kind: 'too_often' }
  const { sendAt, dueAt, fact } = change
  notification.sendAt = sendAt
  addFacts(state, notification, [fact], 'engine')
  makeDue(state, job, dueAt)
  state.enqueue?.(job)
  return { kind: 'rescheduled' }
}

function cancel(state: MemoryState, id: string, content?: NotificationContent): CancelAnswer {
  const found = unbegun(state, id)
  if (typeof found === 'string') return { kind: found }
  const { notification, job } = found
  removeJob(state, job)
  setContent(notification, content)
  return { kind: 'cancelled', events: addFacts(state, notification, [{ type: 'cancelled' }], 'engine') }
}
