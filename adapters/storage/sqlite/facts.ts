import { eventPayload, type NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import type { Fact } from '../../../src/core/notification/facts.ts'
import { recordFacts, reportedTo } from '../../../src/core/notification/record-facts.ts'
import { type FactColumns, type FactRow, factColumns, toFactState } from '../rows/facts.ts'
import { toLabels } from '../rows/labels.ts'
import type { Connection } from './connection.ts'
import type { Publisher } from './deliveries.ts'
import type { SqliteRecords } from './records.ts'

/** The newest event of a notification `n`, which holds its current state. None: as accepted. */
export const WITH_NEWEST_EVENT: string = `LEFT JOIN carillon_events AS e ON e.notification = n.seq AND e.sequence =
    (SELECT max(sequence) FROM carillon_events WHERE notification = n.seq)`

export const FROM_NOTIFICATIONS: string = `FROM carillon_notifications AS n ${WITH_NEWEST_EVENT}`

/** Columns of a notification `n` and its newest event that facts need. Never the content. */
export const FACT_COLUMNS: string =
  'n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace, ' +
  'n.person, n.category, n.group_id, n.metadata, e.status, ' +
  'coalesce(e.sequence, 1) AS sequence, coalesce(e.published, 0) AS published, e.fold, e.provider, ' +
  'e.provider_message_id, e.error'

const INSERT_EVENT = `
  INSERT INTO carillon_events
    (notification, sequence, organization, at, status, fact, published, fold, provider, provider_message_id, error)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const SELECT_COPIES = 'SELECT address FROM carillon_copies WHERE notification = ?'

const SET_FAILED = 'UPDATE carillon_notifications SET failed = ? WHERE seq = ?'

const INSERT_HANDOVER = `
  INSERT OR IGNORE INTO carillon_handovers (provider, message_id, notification) VALUES (?, ?, ?)`

/** A stored notification without its content. */
export type NotificationRow = FactRow & { -readonly [Column in keyof FactColumns]: FactColumns[Column] }

export type AddFacts = (
  row: NotificationRow,
  facts: readonly Fact[],
  origin: 'engine' | 'receipt',
  publisher: Publisher,
  /** Default: the notification's address. See {@link reportedTo}. */
  to?: string,
) => NotificationEvent[]

/** Adds a provider's report. */
export type AddReport = (row: NotificationRow, fact: Fact, publisher: Publisher) => NotificationEvent[]

/**
 * Adds facts to a notification: status, history, hand-overs and published events. Updates `row`, so that more facts can
 * follow in the same transaction.
 */
export function createAddFacts(connection: Connection, records: SqliteRecords): AddFacts {
  const insertEvent = connection.statement(INSERT_EVENT)
  const setFailed = connection.statement(SET_FAILED)
  const insertHandover = connection.statement(INSERT_HANDOVER)

  function keepHandover(seq: number, { type, provider, providerMessageId }: Fact): void {
    if (type !== 'sent' || providerMessageId === undefined) return
    insertHandover().run(provider ?? '', providerMessageId, seq)
  }

  return function addFacts(row, facts, origin, publisher, to = row.recipient) {
    if (facts.length === 0) return []
    const { seq, id, organization, channel } = row
    const about = { id, organizationId: organization, channel, to, ...toLabels(row) }
    const hadFailed = row.status === 'failed'
    const { state, events } = recordFacts(toFactState(row, row), facts, origin, to)
    Object.assign(row, factColumns(state))
    const published: NotificationEvent[] = []
    for (const { fact, sequence, status, eventType } of events) {
      insertEvent().run(
        seq,
        sequence,
        organization,
        publisher.now,
        status,
        JSON.stringify(fact),
        row.published,
        row.fold,
        row.provider,
        row.provider_message_id,
        row.error,
      )
      keepHandover(seq, fact)
      if (eventType === null) continue
      const event = eventPayload(about, { fact, sequence, status, eventType }, publisher.now)
      published.push(event)
      publisher.add(event, row.trace)
    }
    // Those of an erased notification are stored without the address that follows.
    records.follow(connection.follow(about, facts))
    const failed = row.status === 'failed'
    if (failed !== hadFailed) setFailed().run(failed ? 1 : 0, seq)
    return published
  }
}

export function createAddReport(connection: Connection, addFacts: AddFacts): AddReport {
  const selectCopies = connection.statement<{ address: string }>(SELECT_COPIES)
  return function addReport(row, fact, publisher) {
    const copies = () =>
      selectCopies()
        .all(row.seq)
        .map(({ address }) => address)
    return addFacts(row, [fact], 'receipt', publisher, reportedTo(fact, row.recipient, copies))
  }
}
