import type { Fact } from '../../../src/core/notification/facts.ts'
import type { NotificationStatus } from '../../../src/core/notification/notification.ts'
import type { LogEntry } from '../../../src/core/ports/storage/logs.ts'
import { type LabelColumns, toLabels } from './labels.ts'

/** An event, or an accept, with the columns of its notification that the delivery log shows. */
export interface LogRow extends LabelColumns {
  readonly seq: number
  readonly sequence: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly status: NotificationStatus
  /** JSON. Null: the accept. */
  readonly fact: string | null
  readonly id: string
  readonly organization: string
  readonly channel: string
  readonly recipient: string
  /** Name of the template. Null: none. */
  readonly template: string | null
}

/**
 * Reads an entry of the delivery log.
 *
 * @example
 * const rows = await query<LogRow>('SELECT * FROM log WHERE organization = $1', ['org_acme'])
 * const entries = rows.map(toLogEntry)
 */
export function toLogEntry(row: LogRow): LogEntry {
  const fact: Fact | null = row.fact === null ? null : JSON.parse(row.fact)
  const accepted = row.status === 'scheduled' ? 'scheduled' : 'queued'
  return {
    id: `log_${row.id.slice('notif_'.length)}_${row.sequence}`,
    notificationId: row.id,
    organizationId: row.organization,
    channel: row.channel,
    to: row.recipient,
    template: row.template,
    sequence: row.sequence,
    type: fact === null ? accepted : fact.type,
    status: row.status,
    at: row.at,
    fact,
    ...toLabels(row),
  }
}
