import type { Fact } from '../../../src/domain/facts.ts'
import type { NotificationStatus } from '../../../src/domain/notification.ts'
import type { LogEntry } from '../../../src/ports/storage/logs.ts'

export interface LogRow {
  readonly seq: number
  readonly sequence: number
  readonly at: number
  readonly status: NotificationStatus
  /** Null: the accept. */
  readonly fact: string | null
  readonly id: string
  readonly channel: string
  readonly recipient: string
  readonly template: string | null
}

export function toLogEntry(row: LogRow): LogEntry {
  const fact: Fact | null = row.fact === null ? null : JSON.parse(row.fact)
  const accepted = row.status === 'scheduled' ? 'scheduled' : 'queued'
  return {
    id: `log_${row.id.slice('notif_'.length)}_${row.sequence}`,
    notificationId: row.id,
    channel: row.channel,
    to: row.recipient,
    template: row.template,
    sequence: row.sequence,
    type: fact === null ? accepted : fact.type,
    status: row.status,
    at: row.at,
    fact,
  }
}
