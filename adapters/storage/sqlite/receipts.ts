import type { Fact } from '../../../src/core/notification/facts.ts'
import { receivedEvent, receivedEventId } from '../../../src/core/notification/received-message.ts'
import type { MessageReport, ReceiptAnswer, ReceiptRecord } from '../../../src/core/ports/storage/receipts.ts'
import type { Connection } from './connection.ts'
import type { Deliveries, Publisher } from './deliveries.ts'
import { dataError } from './errors.ts'
import {
  type AddReport,
  FACT_COLUMNS,
  FROM_NOTIFICATIONS,
  type NotificationRow,
  WITH_NEWEST_EVENT,
} from './facts.ts'
import { hashOf } from './hash.ts'
import type { SqliteRecords } from './records.ts'

const INSERT_RECEIPT = 'INSERT OR IGNORE INTO carillon_receipts (hash, received_at) VALUES (?, ?)'

const SELECT_BY_ID = `SELECT ${FACT_COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.id = ?`

/** An organization's own instance reports only about its own notifications. */
const SELECT_BY_MESSAGE = `
  SELECT ${FACT_COLUMNS}
  FROM carillon_handovers AS h JOIN carillon_notifications AS n ON n.seq = h.notification ${WITH_NEWEST_EVENT}
  WHERE h.provider = ? AND h.message_id = ? AND n.organization = coalesce(?, n.organization)
  ORDER BY h.notification DESC LIMIT 1`

const INSERT_UNMATCHED = `
  INSERT INTO carillon_unmatched_receipts (hash, organization, provider, message_id, fact, received_at)
  VALUES (?, ?, ?, ?, ?, ?)`

const ANY_UNMATCHED = 'SELECT EXISTS (SELECT 1 FROM carillon_unmatched_receipts) AS found'

const TAKE_UNMATCHED = `
  DELETE FROM carillon_unmatched_receipts
  WHERE provider = ? AND message_id = ? AND (organization IS NULL OR organization = ?)
  RETURNING id, fact`

/** Receipts that arrived before their hand-over. */
export interface UnmatchedReceipts {
  /** False: there are none, so {@link take} can be skipped. */
  any(): boolean
  /** Removes and returns the reports about messages that these facts hand over. */
  take(organization: string, facts: readonly Fact[]): Fact[]
}

export function createUnmatchedReceipts(connection: Connection): UnmatchedReceipts {
  const any = connection.statement<{ found: number }>(ANY_UNMATCHED)
  const take = connection.statement<{ id: number; fact: string }>(TAKE_UNMATCHED)
  return {
    any: () => any().get()?.found === 1,
    take(organization, facts) {
      const sent = facts.filter(({ type, providerMessageId: id }) => type === 'sent' && id !== undefined)
      return sent.flatMap(({ provider, providerMessageId }) =>
        take()
          .all(provider ?? '', providerMessageId ?? '', organization)
          .sort((a, b) => a.id - b.id)
          .map(({ fact }): Fact => JSON.parse(fact)),
      )
    },
  }
}

const failed = (cause: unknown): ReceiptAnswer => ({ kind: 'failed', error: dataError(cause) })

type RecordReceipts = (receipts: readonly ReceiptRecord[]) => Promise<ReceiptAnswer[]>

/** Records provider reports, one commit per set. */
export function createRecordReceipts(
  connection: Connection,
  {
    addReport,
    deliveries,
    records,
  }: { readonly addReport: AddReport; readonly deliveries: Deliveries; readonly records: SqliteRecords },
): RecordReceipts {
  const insertReceipt = connection.statement(INSERT_RECEIPT)
  const selectById = connection.statement<NotificationRow>(SELECT_BY_ID)
  const selectByMessage = connection.statement<NotificationRow>(SELECT_BY_MESSAGE)
  const insertUnmatched = connection.statement(INSERT_UNMATCHED)

  function correlate(receipt: MessageReport): NotificationRow | undefined {
    const { notificationId, organizationId, provider, fact } = receipt
    const named = notificationId === undefined ? undefined : selectById().get(notificationId)
    if (named !== undefined && (organizationId === null || organizationId === named.organization))
      return named
    if (fact.providerMessageId === undefined) return undefined
    return selectByMessage().get(provider, fact.providerMessageId, organizationId)
  }

  function record(receipt: ReceiptRecord, publisher: Publisher): ReceiptAnswer {
    const { organizationId, provider, dedupeKey } = receipt
    // Includes the organization: instances of different organizations may share a name.
    const hash = hashOf(organizationId ?? '', provider, dedupeKey)
    const { now } = publisher
    if (insertReceipt().changes(hash, now) === 0) return { kind: 'duplicate' }
    if ('consent' in receipt) {
      records.follow(receipt.consent)
      if (receipt.received === undefined) return { kind: 'applied' }
      const received = receivedEvent(receipt.received, now)
      deliveries.publishOther(received, receivedEventId(received), now)
      return { kind: 'applied', received }
    }
    const { fact } = receipt
    const row = correlate(receipt)
    if (row === undefined) {
      const messageId = fact.providerMessageId ?? null
      insertUnmatched().run(hash, organizationId, provider, messageId, JSON.stringify(fact), now)
      return { kind: 'unmatched' }
    }
    const events = addReport(row, fact, publisher)
    return { kind: 'recorded', notificationId: row.id, events }
  }

  return function recordReceipts(receipts) {
    return connection.writeSet(receipts, failed, () => {
      const publisher = deliveries.publisher(connection.now())
      return (receipt) => record(receipt, publisher)
    })
  }
}
