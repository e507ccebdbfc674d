import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import { ANNOUNCED_AS } from '../../domain/facts.ts'
import type { Notification } from '../../domain/notification.ts'
import { failureOf } from '../../domain/record-facts.ts'
import type { LogEntry } from '../../ports/storage/logs.ts'
import type { NotificationFilter, TimelineEntry } from '../../ports/storage/notifications.ts'
import type { PageRequest } from '../../ports/storage/page.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { type List, listInPortions, listOf } from '../list.ts'
import type { Notifier } from '../notifier.ts'
import { shownParts } from '../render.ts'
import { byId, isoOrNull, owned, type Scope } from '../scope.ts'
import { readLogs, readNotifications, templateId } from './filter.ts'
import type { LogRecord, NotificationRecord, NotificationSummary, TimelineRecord } from './records.ts'

type Announce = (event: NotificationEvent) => void

/**
 * The use cases that look at notifications, cancel, and redrive one.
 *
 * @param wake something was stored that may be due
 */
export function createNotifications(
  storage: Storage,
  announce: Announce,
  wake: () => void,
  redrive: (id: string, scope: Scope | undefined) => Promise<void>,
): Omit<Notifier['notifications'], 'resend'> {
  async function get(id: string, scope: Scope | undefined): Promise<NotificationRecord> {
    const notification = owned(
      await byId(id, (known) => storage.notifications.get(known)),
      scope,
      'notification_not_found',
    )
    const timeline = await storage.notifications.timeline(id)
    return {
      ...summary(notification),
      ...shownParts(notification.content),
      timeline: timeline.map(timelineRecord),
    }
  }

  return {
    get,
    async list(query) {
      const { organizationId, page, filter: asked } = readNotifications(query)
      const { template, ...rest } = asked
      const filter = {
        ...rest,
        organizationId,
        templateId: await templateId(storage, template, organizationId),
      }
      return listSummaries('notifications', storage, filter, page)
    },
    async cancel(id, scope) {
      owned(await byId(id, (known) => storage.notifications.get(known)), scope, 'notification_not_found')
      const answer = await storage.notifications.cancel(id)
      switch (answer.kind) {
        case 'cancelled':
          for (const event of answer.events) announce(event)
          wake()
          return get(id, scope)
        case 'unknown':
          throw new NotifierError('notification_not_found')
        case 'too_late':
          throw new NotifierError('not_cancellable', {
            message: 'It is too late to cancel: an attempt to deliver it has begun.',
          })
        case 'ended':
          throw new NotifierError('not_cancellable', { message: 'It cannot be cancelled: it has ended.' })
      }
    },
    async redrive(id, scope) {
      await redrive(id, scope)
      return get(id, scope)
    },
  }
}

/** The delivery log of a notifier. */
export function createLogs(storage: Storage): Notifier['logs'] {
  return {
    async list(query) {
      const { organizationId, page, filter } = readLogs(query)
      return listOf('logs', await storage.logs.list({ ...filter, organizationId }, page), page, logRecord)
    },
  }
}

/** A page of notifications. Their contents, of which little is shown, are read with them, and may be a mebibyte each. */
export function listSummaries(
  list: 'notifications' | 'dead-letters',
  storage: Storage,
  filter: NotificationFilter,
  page: PageRequest,
): Promise<List<NotificationSummary>> {
  const read = (request: PageRequest) => storage.notifications.list(filter, request)
  return listInPortions(list, read, page, summary, { rows: 25 })
}

/** A notification as lists show it. */
function summary(notification: Notification): NotificationSummary {
  const { id, status, channel, to, content, priority, sendAt, expiresAt } = notification
  const { provider, error, createdAt, resendOf } = notification
  return {
    id,
    status,
    channel,
    to,
    subject: content.subject ?? null,
    template: 'template' in content ? content.template.name : null,
    priority,
    sendAt: isoOrNull(sendAt),
    expiresAt: isoOrNull(expiresAt),
    provider,
    error,
    createdAt: new Date(createdAt).toISOString(),
    resendOf,
  }
}

function timelineRecord({ sequence, type, status, at, fact }: TimelineEntry): TimelineRecord {
  return {
    sequence,
    event: type,
    status,
    timestamp: new Date(at).toISOString(),
    attempt: fact?.attempt ?? null,
    provider: fact?.provider ?? null,
    providerMessageId: fact?.providerMessageId ?? null,
    error: errorOf(fact),
    providerCode: fact?.providerCode ?? null,
    message: fact?.message ?? null,
    durationMs: fact?.durationMs ?? null,
    segments: fact?.segments ?? null,
    ambiguous: fact?.ambiguous ?? false,
    machine: fact?.machine ?? false,
  }
}

function logRecord(entry: LogEntry): LogRecord {
  const { id, notificationId, channel, to, status, type, fact, template, at } = entry
  return {
    id,
    notificationId,
    channel,
    to,
    status,
    event: type,
    provider: fact?.provider ?? null,
    attempt: fact?.attempt ?? null,
    segments: fact?.segments ?? null,
    machine: fact?.machine ?? false,
    error: errorOf(fact),
    providerCode: fact?.providerCode ?? null,
    message: fact?.message ?? null,
    template,
    createdAt: new Date(at).toISOString(),
  }
}

function errorOf(fact: TimelineEntry['fact']): LogRecord['error'] {
  if (fact === null) return null
  const failed = fact.code !== undefined || ANNOUNCED_AS[fact.type] === 'notification.failed'
  return failed ? failureOf(fact) : null
}
