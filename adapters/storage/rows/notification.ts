import type { Fact } from '../../../src/core/notification/facts.ts'
import { matchesLabels } from '../../../src/core/notification/labels.ts'
import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { Notification, NotificationStatus } from '../../../src/core/notification/notification.ts'
import { wholeContent } from '../../../src/core/notification/stored-content.ts'
import type {
  NotificationFilter,
  NotificationState,
  TimelineEntry,
} from '../../../src/core/ports/storage/notifications.ts'
import { firstIdAt } from '../../../src/core/records/ids.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { matchesAddress } from './address.ts'
import { type LabelColumns, toLabels } from './labels.ts'

/** Columns that determine the status at accept. Times are epoch milliseconds. */
export interface AcceptRow {
  readonly created_at: number
  readonly send_at: number | null
}

/** A notification with its content and state. Times are epoch milliseconds. */
export interface WholeRow extends AcceptRow, LabelColumns {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly channel: string
  readonly recipient: string
  /** JSON, as `storedContent` returns it. */
  readonly content: string
  /** JSON. Null: none. Absent: not read. */
  readonly attachments?: string | null
  readonly high: number | boolean
  readonly expires_at: number | null
  readonly resend_of: string | null
  /** Null: no facts yet. */
  readonly status: NotificationStatus | null
  readonly provider: string | null
  readonly provider_message_id: string | null
  /** JSON. */
  readonly error: string | null
}

/** A recorded fact. */
export interface EventRow {
  readonly sequence: number
  readonly status: NotificationStatus
  /** Epoch milliseconds. */
  readonly at: number
  /** JSON. */
  readonly fact: string
}

/**
 * Status of a notification at its accept.
 *
 * @example
 * acceptedStatus({ created_at: 1767225600000, send_at: null }) // 'queued'
 */
export function acceptedStatus(row: AcceptRow): 'scheduled' | 'queued' {
  return row.send_at !== null && row.send_at > row.created_at ? 'scheduled' : 'queued'
}

/**
 * Reads a notification.
 *
 * @example
 * const rows = await query<NotificationRow>('SELECT * FROM notifications WHERE organization = $1', ['org_acme'])
 * const notifications = rows.map(toNotification)
 */
export function toNotification(row: WholeRow): Notification {
  return {
    id: row.id,
    organizationId: row.organization,
    channel: row.channel,
    to: row.recipient,
    status: row.status ?? acceptedStatus(row),
    content: wholeContent({ content: row.content, attachments: row.attachments ?? null }),
    priority: row.high ? 'high' : 'normal',
    sendAt: row.send_at,
    expiresAt: row.expires_at,
    provider: row.provider,
    providerMessageId: row.provider_message_id,
    error: row.error === null ? null : JSON.parse(row.error),
    createdAt: row.created_at,
    resendOf: row.resend_of,
    ...toLabels(row),
  }
}

/** The columns by which lists and retries are filtered. */
export interface FilteredRow extends AcceptRow, LabelColumns {
  readonly id: string
  readonly organization: string
  readonly channel: string
  readonly recipient: string
  /** Null: no facts yet. */
  readonly status: NotificationStatus | null
  readonly provider: string | null
  /** JSON. */
  readonly error: string | null
  /** Id of the template. Null: none. */
  readonly template_id: string | null
  /** The addresses of its copies, with small letters A to Z. Absent: not read, for a filter without `copyTo`. */
  readonly copies?: readonly string[]
}

/**
 * True: the notification matches the filter. For storages that filter rows themselves.
 *
 * @example
 * const rows = await query<FilteredRow>('SELECT * FROM notifications')
 * const failed = rows.filter((row) => matchesFilter(row, { organizationId: 'org_acme', status: 'failed' }))
 */
export function matchesFilter(row: FilteredRow, filter: NotificationFilter): boolean {
  const { organizationId, channel, provider, status, templateId, code, ids, copyTo } = filter
  return (
    (organizationId === ALL_ORGANIZATIONS || row.organization === organizationId) &&
    (channel === undefined || row.channel === channel) &&
    matchesAddress(row.recipient, filter) &&
    (copyTo === undefined || row.copies?.includes(lowerAddress(copyTo)) === true) &&
    (provider === undefined || row.provider === provider) &&
    (status === undefined || (row.status ?? acceptedStatus(row)) === status) &&
    (templateId === undefined || row.template_id === templateId) &&
    (code === undefined || (row.error !== null && JSON.parse(row.error).code === code)) &&
    isWithin(row, filter) &&
    (ids === undefined || ids.includes(row.id)) &&
    matchesLabels(toLabels(row), filter)
  )
}

/** Over all organizations the time is that in the id. */
function isWithin({ id, created_at: at }: FilteredRow, filter: NotificationFilter): boolean {
  const { organizationId, from, until } = filter
  if (organizationId === ALL_ORGANIZATIONS)
    return (from === undefined || id >= firstIdAt(from)) && (until === undefined || id < firstIdAt(until))
  return (from === undefined || at >= from) && (until === undefined || at < until)
}

/** The states of notifications, in the order of `ids`. */
export function toStates(
  ids: readonly string[],
  rows: readonly (Pick<WholeRow, 'id' | 'recipient'> & Pick<NotificationState, 'status'>)[],
): (NotificationState | null)[] {
  const found = new Map(rows.map(({ id, status, recipient: to }) => [id, { status, to }]))
  return ids.map((id) => found.get(id) ?? null)
}

/**
 * The accept, which has no stored event, and the events after it.
 *
 * @example
 * const events = await query<EventRow>('SELECT * FROM events WHERE notification = $1 ORDER BY sequence', [seq])
 * const timeline = toTimeline(accepted, events)
 */
export function toTimeline(accepted: AcceptRow, events: readonly EventRow[]): TimelineEntry[] {
  const status = acceptedStatus(accepted)
  const first = { sequence: 1, type: status, status, at: accepted.created_at, fact: null }
  return [first, ...events.map(toEntry)]
}

function toEntry({ sequence, status, at, fact: text }: EventRow): TimelineEntry {
  const fact: Fact = JSON.parse(text)
  return { sequence, type: fact.type, status, at, fact }
}
