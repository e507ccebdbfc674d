import * as z from 'zod'
import { joinTransaction } from '../accept/join.ts'
import { changeOptions, type TransactionOption } from '../accept/options.ts'
import { assertAhead } from '../accept/times.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import type { ProviderRegistry } from '../channels/provider-registry.ts'
import type { ProviderHealth } from '../delivery/model.ts'
import type { UploadContents } from '../delivery/upload-contents.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { exampleUrls } from '../links/links.ts'
import type { Processor } from '../loop/processor.ts'
import { once } from '../loop/steps.ts'
import type { Clock } from '../ports/clock.ts'
import type { JoinedReads, JoinedTransaction } from '../ports/storage/accept.ts'
import type { JobCount } from '../ports/storage/job-counts.ts'
import type { LogEntry } from '../ports/storage/logs.ts'
import type { NotificationFilter, TimelineEntry } from '../ports/storage/notifications.ts'
import type { PageRequest } from '../ports/storage/page.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { type List, listInPortions, listOf, listOfOwner } from '../records/list.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import type { OrganizationFinder } from '../tenancy/plan-of.ts'
import { byId, isoOrNull, owned, parseOptions, parseSubject, wrong } from '../tenancy/scope.ts'
import type { AuthoringServices } from '../text/authoring-services.ts'
import { type RenderedMessage, renderContent, shown } from '../text/render.ts'
import { actionsOf } from './actions.ts'
import type { Logs, Notifications } from './api.ts'
import type { NotificationEvent } from './event-payload.ts'
import { EVENT_TYPE_OF } from './facts.ts'
import { readLogs, readNotifications, templateId } from './filter.ts'
import type {
  GetNotificationOptions,
  LogRecord,
  NotificationRecord,
  NotificationSummary,
  TimelineRecord,
} from './model.ts'
import type { Notification, NotificationFailure } from './notification.ts'
import { failureOf, otherAddress } from './record-facts.ts'
import { MAX_RESCHEDULES } from './reschedule.ts'
import { rescheduleInput } from './reschedule-input.ts'
import { contentRemoved, removedContent } from './sensitive.ts'
import { waitingOf } from './waiting.ts'

const getOptions: z.ZodType<GetNotificationOptions> = z.strictObject({ rendered: z.boolean().optional() })

type Emit = (event: NotificationEvent) => void

type Reads = Pick<JoinedReads, 'notifications' | 'countJobs'>

/** A transaction of the caller, or commits of the storage. */
interface Changing {
  readonly transaction: Pick<JoinedTransaction, 'cancel' | 'reschedule'>
  readonly reads: Reads
}

/**
 * The use cases for reading, cancelling and rescheduling notifications.
 *
 * @param wake called when stored work may be due
 */
export function createNotifications(
  storage: Storage<unknown>,
  organizations: OrganizationFinder,
  {
    compiled,
    code,
    processor,
  }: Pick<AuthoringServices, 'compiled' | 'code'> & { readonly processor: Processor },
  registry: Pick<ProviderRegistry, 'channels' | 'kinds' | 'of' | 'warm'>,
  providers: () => readonly ProviderHealth[],
  uploads: () => UploadContents | undefined,
  clock: Pick<Clock, 'now'>,
  emit: Emit,
  wake: () => void,
): PerTenant<Omit<Notifications<unknown>, 'resend'>> {
  async function find({ notifications }: Reads, organizationId: string, id: string): Promise<Notification> {
    const found = await byId(id, (known) => notifications.get(known))
    return owned(found, organizationId, 'notification_not_found')
  }

  /** Where a change is made. @throws NotifierError `invalid_parameter`, `invalid_transaction` */
  async function changing(options: TransactionOption<unknown> | undefined): Promise<Changing> {
    const { tx } = parseOptions(changeOptions, options)
    if (tx !== undefined) {
      const transaction = await joinTransaction(storage, tx)
      return { transaction, reads: transaction.reads ?? storage }
    }
    const committed = Promise.resolve(true)
    const { notifications } = storage
    return {
      reads: storage,
      transaction: {
        cancel: async (id, content) => ({ answer: await notifications.cancel(id, content), committed }),
        reschedule: async (id, sendAt) => ({ answer: await notifications.reschedule(id, sendAt), committed }),
      },
    }
  }

  /** Claims pass over the notification while its transaction is open, so they look again after its end, however it ends. */
  async function followEnd(
    committed: Promise<boolean>,
    events: readonly NotificationEvent[] = [],
  ): Promise<void> {
    if (await committed) for (const event of events) emit(event)
    wake()
  }

  async function recordOf(
    reads: Reads,
    notification: Notification,
    rendered: boolean,
  ): Promise<NotificationRecord> {
    const [timeline, job] = await Promise.all([
      reads.notifications.timeline(notification.id),
      jobOf(reads, notification),
    ])
    return {
      ...summary(notification, registry),
      sensitive: notification.content.sensitive === true,
      ...(rendered ? { rendered: await render(notification) } : {}),
      waiting: job && waitingOf(notification, job, timeline, { registry, providers }),
      actions: actionsOf(notification, job, timeline, registry, clock.now()),
      timeline: timeline.map((entry) => timelineRecord(entry, notification.to)),
    }
  }

  /** Null: its delivery has ended. */
  async function jobOf(
    reads: Reads,
    { id, channel, organizationId, status }: Notification,
  ): Promise<JobCount | null> {
    if (status !== 'queued' && status !== 'scheduled') return null
    const { counts } = await reads.countJobs({ notificationId: id }, 1)
    const [job] = counts
    if (job === undefined) return null
    await registry.warm(channel, organizationId)
    return job
  }

  /** @throws NotifierError `sensitive_content`, `content_removed` */
  async function render({ organizationId, channel, content }: Notification): Promise<RenderedMessage> {
    if (content.sensitive === true) throw new NotifierError('sensitive_content')
    if (content.removed === true) throw contentRemoved(content)
    const template = 'body' in content ? null : await compiled.load(content.template)
    const kind = registry.kinds.of(channel)
    const share = processor.share(organizationId)
    const parts = await withShownUploads(kind, content.parts)
    return shown(kind, await share(once(() => renderContent(kind, content, template, exampleUrls))), parts)
  }

  async function withShownUploads({ files }: ChannelKind, parts: unknown): Promise<unknown> {
    if (files?.isShown === undefined) return parts
    try {
      return await (uploads()?.into(parts, files.isShown) ?? parts)
    } catch (error) {
      // The rest of the message is worth showing.
      if (error instanceof NotifierError && error.code === 'unknown_attachment') return parts
      throw error
    }
  }

  return {
    async get(organizationId, id, options) {
      const { rendered } = parseOptions(getOptions, options)
      return recordOf(storage, await find(storage, organizationId, id), rendered === true)
    },
    async list(organizationId, query) {
      const { page, filter: asked } = readNotifications(query, organizationId)
      await organizations.readable(organizationId)
      const { template, ...rest } = asked
      const filter = {
        ...rest,
        organizationId,
        templateId: await templateId(storage.records, template, organizationId, code),
      }
      return listSummaries('notifications', storage, filter, page, registry)
    },
    async cancel(organizationId, id, options) {
      const { transaction, reads } = await changing(options)
      const { content } = await find(reads, organizationId, id)
      const removal = content.sensitive === true ? removedContent(content) : undefined
      const { answer, committed } = await transaction.cancel(id, removal)
      switch (answer.kind) {
        case 'cancelled':
          void followEnd(committed, answer.events)
          return recordOf(reads, await find(reads, organizationId, id), false)
        case 'unknown':
          throw new NotifierError('notification_not_found')
        case 'too_late':
          throw new NotifierError('not_cancellable', {
            message:
              'It is too late to cancel: an attempt to deliver it is running. If another one follows, cancel it before that.',
          })
        case 'ended':
          throw new NotifierError('not_cancellable', { message: 'It cannot be cancelled: it has ended.' })
      }
    },
    async reschedule(organizationId, id, change, options) {
      const { sendAt } = parseSubject(rescheduleInput, change)
      const { transaction, reads } = await changing(options)
      const { expiresAt } = await find(reads, organizationId, id)
      assertNewTime(sendAt, expiresAt, clock.now())
      const { answer, committed } = await transaction.reschedule(id, sendAt)
      switch (answer.kind) {
        case 'rescheduled':
          void followEnd(committed)
          return recordOf(reads, await find(reads, organizationId, id), false)
        case 'unknown':
          throw new NotifierError('notification_not_found')
        case 'too_late':
          throw new NotifierError('not_reschedulable', {
            message: 'It is too late to reschedule: an attempt to deliver it has begun.',
          })
        case 'ended':
          throw new NotifierError('not_reschedulable', {
            message: 'It cannot be rescheduled: it has ended.',
          })
        case 'not_scheduled':
          throw new NotifierError('not_reschedulable', {
            message:
              'It cannot be rescheduled: its status is not scheduled. Only a message sent with a "sendAt" ahead is.',
          })
        case 'too_often':
          throw new NotifierError('not_reschedulable', {
            message: `It cannot be rescheduled more than ${MAX_RESCHEDULES} times. Cancel it and send a new message.`,
          })
      }
    },
  }
}

/** @throws NotifierError `invalid_parameter`, `not_reschedulable` */
function assertNewTime(sendAt: number | null, expiresAt: number | null, now: number): void {
  if (sendAt !== null) assertAhead(sendAt, now)
  if (expiresAt === null) return
  if (expiresAt <= now)
    throw new NotifierError('not_reschedulable', { message: 'It cannot be rescheduled: it has expired.' })
  if (sendAt !== null && expiresAt <= sendAt)
    throw wrong('sendAt', `before the "expiresAt" of the notification, ${isoOrNull(expiresAt)}`)
}

/** The delivery log of a notifier. */
export function createLogs(storage: Storage, organizations: OrganizationFinder): PerTenant<Logs> {
  return {
    async list(organizationId, query) {
      const { page, filter } = readLogs(query, organizationId)
      await organizations.readable(organizationId)
      return listOf(
        listOfOwner('logs', organizationId),
        await storage.logs.list({ ...filter, organizationId }, page),
        page,
        logRecord,
      )
    },
  }
}

/** A page of notifications. Their contents are read with them and may have a mebibyte each. */
export function listSummaries(
  list: 'notifications' | 'dead-letters',
  storage: Storage,
  filter: NotificationFilter,
  page: PageRequest,
  registry: Pick<ProviderRegistry, 'channels'>,
): Promise<List<NotificationSummary>> {
  const read = (request: PageRequest) => storage.notifications.list(filter, request)
  const view = (notification: Notification) => summary(notification, registry)
  return listInPortions(listOfOwner(list, filter.organizationId), read, page, {
    rows: 25,
    view: (rows) => rows.map(view),
  })
}

const NOT_CONFIGURED: NotificationFailure = {
  code: 'channel_not_configured',
  message: 'The channel has no provider here. The notification waits until it has one.',
}

/** A notification as an item of a list. */
function summary(
  notification: Notification,
  { channels }: Pick<ProviderRegistry, 'channels'>,
): NotificationSummary {
  const { id, organizationId, status, channel, to, content, priority, sendAt, expiresAt } = notification
  const { provider, createdAt, resendOf, metadata, recipient, category, groupId } = notification
  const waits = status === 'queued' && !channels.includes(channel)
  return {
    id,
    organizationId,
    status,
    channel,
    to,
    subject: content.sensitive === true ? null : (content.subject ?? null),
    template: content.template?.name ?? null,
    priority,
    sendAt: isoOrNull(sendAt),
    expiresAt: isoOrNull(expiresAt),
    provider,
    error: waits ? NOT_CONFIGURED : notification.error,
    createdAt: new Date(createdAt).toISOString(),
    resendOf,
    metadata,
    recipient,
    category,
    groupId,
  }
}

function timelineRecord(entry: TimelineEntry, to: string): TimelineRecord {
  const { sequence, type, status, at, fact } = entry
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
    address: fact === null ? null : otherAddress(fact, to),
    suppressed: fact?.suppress ?? null,
    durationMs: fact?.durationMs ?? null,
    segments: fact?.segments ?? null,
    ambiguous: fact?.ambiguous ?? false,
    machine: fact?.machine ?? false,
  }
}

function logRecord(entry: LogEntry): LogRecord {
  const { id, notificationId, organizationId, channel, to, status, type, fact, template, at } = entry
  const { metadata, recipient, category, groupId } = entry
  return {
    id,
    notificationId,
    organizationId,
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
    address: fact === null ? null : otherAddress(fact, to),
    template,
    metadata,
    recipient,
    category,
    groupId,
    createdAt: new Date(at).toISOString(),
  }
}

function errorOf(fact: TimelineEntry['fact']): LogRecord['error'] {
  if (fact === null) return null
  const failed = fact.code !== undefined || EVENT_TYPE_OF[fact.type] === 'notification.failed'
  return failed ? failureOf(fact) : null
}
