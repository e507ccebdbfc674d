import type { NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import { receivedEvent } from '../../../src/core/notification/received-message.ts'
import { reportedTo } from '../../../src/core/notification/record-facts.ts'
import type { MessageReport, ReceiptAnswer, ReceiptRecord } from '../../../src/core/ports/storage/receipts.ts'
import type { Connection, Transaction } from './connection.ts'
import { publishedReceived } from './deliveries.ts'
import { dataError } from './errors.ts'
import { copiesFor, createLedger } from './facts.ts'
import { hashOf } from './hash.ts'
import { lockNotifications, type Standing } from './states.ts'
import { keepUnmatched, lockMessages } from './unmatched.ts'

/** In a fixed order, so that two sets with the same reports cannot deadlock. */
const INSERT = `
  INSERT INTO carillon.receipts (hash, received_at)
  SELECT decode(given, 'hex'), $1::bigint FROM unnest($2::text[]) AS given ORDER BY 1
  ON CONFLICT DO NOTHING RETURNING encode(hash, 'hex') AS hash`

const PROVE_RECORDED = "SELECT 1 FROM carillon.receipts WHERE hash = decode($1, 'hex')"

const FIND_NAMED = 'SELECT id, organization FROM carillon.notifications WHERE id = ANY ($1::text[])'

/** The newest notification of each message. An organization's own instance reports only about its own notifications. */
const FIND_HANDOVERS = `
  SELECT told.number::integer AS number, found.id
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS told (provider, message_id, organization, number),
  LATERAL (
    SELECT n.id FROM carillon.handovers AS h JOIN carillon.notifications AS n ON n.id = h.notification
    WHERE h.provider = told.provider AND h.message_id = told.message_id
      AND n.organization = coalesce(told.organization, n.organization)
    ORDER BY n.seq DESC LIMIT 1) AS found`

/** A receipt with the hash of its deduplication key. */
interface Fresh<Receipt extends ReceiptRecord = MessageReport> {
  readonly hash: string
  readonly receipt: Receipt
}

const failed = (cause: unknown): ReceiptAnswer => ({ kind: 'failed', error: dataError(cause) })

export type RecordReceipts = (receipts: readonly ReceiptRecord[]) => Promise<ReceiptAnswer[]>

/** Records provider reports, one commit per set. */
export function createRecordReceipts(connection: Connection): RecordReceipts {
  return async function recordReceipts(receipts) {
    if (receipts.length === 0) return []
    return connection.set(receipts, failed, recordSet)
  }
}

async function recordSet(tx: Transaction, receipts: readonly ReceiptRecord[]): Promise<ReceiptAnswer[]> {
  const all = await dropDuplicates(tx, receipts)
  const [first] = all
  if (first !== undefined) tx.prove(PROVE_RECORDED, [first.hash])
  const fresh = all.flatMap(({ receipt }) => ('consent' in receipt ? [] : [receipt]))
  const correlate = await correlation(tx, fresh)
  const copiesOf = await copiesFor(
    tx,
    fresh.flatMap((receipt) => {
      const row = correlate(receipt)?.row
      return row === undefined ? [] : { id: row.id, to: row.recipient, facts: [receipt.fact] }
    }),
  )
  const ledger = createLedger(tx)
  const unmatched: Fresh[] = []
  const answers = new Map<ReceiptRecord, ReceiptAnswer>()
  for (const { hash, receipt } of all) {
    if ('consent' in receipt) {
      ledger.follow(receipt.consent)
      const received = receipt.received && receivedEvent(receipt.received, tx.now)
      if (received !== undefined) ledger.publish(publishedReceived(received))
      answers.set(receipt, { kind: 'applied', ...(received && { received }) })
      continue
    }
    const standing = correlate(receipt)
    if (standing === undefined) {
      unmatched.push({ hash, receipt })
      answers.set(receipt, { kind: 'unmatched' })
      continue
    }
    const { id, recipient } = standing.row
    const to = reportedTo(receipt.fact, recipient, () => copiesOf(id))
    const events: NotificationEvent[] = ledger.add(standing, [receipt.fact], 'receipt', to)
    answers.set(receipt, { kind: 'recorded', notificationId: id, events })
  }
  await keepUnmatched(tx, unmatched)
  await ledger.write()
  const told = new Set<ReceiptRecord>()
  return receipts.map((receipt): ReceiptAnswer => {
    const answer = told.has(receipt) ? undefined : answers.get(receipt)
    told.add(receipt)
    return answer ?? { kind: 'duplicate' }
  })
}

/** Reports seen for the first time, without duplicates. */
async function dropDuplicates(
  tx: Transaction,
  receipts: readonly ReceiptRecord[],
): Promise<Fresh<ReceiptRecord>[]> {
  const byHash = new Map<string, ReceiptRecord>()
  for (const receipt of receipts) {
    // Includes the organization: instances of different organizations may share a name.
    const hash = hashOf(receipt.organizationId ?? '', receipt.provider, receipt.dedupeKey)
    if (!byHash.has(hash)) byHash.set(hash, receipt)
  }
  const inserted = await tx.rows<{ hash: string }>(INSERT, [tx.now, [...byHash.keys()]])
  const fresh = new Set(inserted.map(({ hash }) => hash))
  return [...byHash].flatMap(([hash, receipt]) => (fresh.has(hash) ? [{ hash, receipt }] : []))
}

/** Finds and locks the notifications of receipts. Returns a lookup from receipt to notification. */
async function correlation(
  tx: Transaction,
  fresh: readonly MessageReport[],
): Promise<(receipt: MessageReport) => Standing | undefined> {
  const ids = await findByName(tx, fresh)
  const unnamed = new Map<string, MessageReport>()
  for (const receipt of fresh) {
    if (!ids.has(receipt) && receipt.fact.providerMessageId !== undefined) {
      unnamed.set(messageKey(receipt), receipt)
    }
  }
  const byMessage = await findHandOvers(tx, unnamed)
  const unfound = new Map([...unnamed].filter(([key]) => !byMessage.has(key)))
  if (unfound.size > 0) {
    const messages = [...unfound.values()].map(({ provider, fact }) => ({
      provider,
      messageId: fact.providerMessageId ?? '',
    }))
    await lockMessages(tx, messages)
    for (const [key, id] of await findHandOvers(tx, unfound)) byMessage.set(key, id)
  }
  const wanted = new Set([...ids.values(), ...byMessage.values()])
  const standings = await lockNotifications(tx, [...wanted])
  return (receipt) => standings.get(ids.get(receipt) ?? byMessage.get(messageKey(receipt)) ?? '')
}

/** Notifications of messages, by {@link messageKey}. */
async function findHandOvers(
  tx: Transaction,
  unnamed: ReadonlyMap<string, MessageReport>,
): Promise<Map<string, string>> {
  if (unnamed.size === 0) return new Map()
  const told = [...unnamed.values()]
  const found = await tx.rows<{ number: number; id: string }>(FIND_HANDOVERS, [
    told.map(({ provider }) => provider),
    told.map(({ fact }) => fact.providerMessageId ?? ''),
    told.map(({ organizationId }) => organizationId),
  ])
  const keys = [...unnamed.keys()]
  return new Map(found.map(({ number, id }) => [keys[number - 1] ?? '', id]))
}

/** Notifications of receipts that carry a notification id. */
async function findByName(
  tx: Transaction,
  fresh: readonly MessageReport[],
): Promise<Map<MessageReport, string>> {
  const named = [...new Set(fresh.flatMap(({ notificationId }) => notificationId ?? []))]
  if (named.length === 0) return new Map()
  const rows = await tx.rows<{ id: string; organization: string }>(FIND_NAMED, [named])
  const owners = new Map(rows.map(({ id, organization }) => [id, organization]))
  return new Map(
    fresh.flatMap((receipt) => {
      const { notificationId = '', organizationId } = receipt
      const owner = owners.get(notificationId)
      const own = owner !== undefined && (organizationId === null || organizationId === owner)
      return own ? [[receipt, notificationId] as const] : []
    }),
  )
}

function messageKey({ provider, organizationId, fact }: MessageReport): string {
  return [provider, organizationId ?? '', fact.providerMessageId ?? ''].join('\n')
}
