import { OTHER_EVENT_IDS } from '../../../src/core/notification/event-payload.ts'
import type { ReportsPage, ReportsRequest } from '../../../src/core/ports/storage/custody.ts'
import { decodeCursor, encodeCursor } from '../../../src/core/records/cursor.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/core/tenancy/organization.ts'
import type { Runner, Transaction } from './connection.ts'
import { type DeliveryRow, removeWithJobs } from './remove.ts'

/** The first delivery of each event. */
const SELECT_MESSAGES = `
  SELECT d.seq, d.event_id, d.created_at, d.payload,
    d.event_type = 'message.received' AND NOT EXISTS (
      SELECT 1 FROM carillon.deliveries AS o WHERE o.event_id = d.event_id AND o.seq < d.seq) AS shown
  FROM carillon.deliveries AS d
  WHERE d.event_id >= '${OTHER_EVENT_IDS.from}' AND d.event_id < '${OTHER_EVENT_IDS.until}'
    AND d.organization = $1 AND (d.created_at, d.seq) > ($2, $3) ORDER BY d.created_at, d.seq LIMIT $4`

const SELECT_UNMATCHED = `
  SELECT id, fact, received_at, coalesce(organization, '${DEFAULT_ORGANIZATION}') = $1 AS shown
  FROM carillon.unmatched_receipts WHERE id > $2 ORDER BY id LIMIT $3`

const SELECT_RECEIVED = `
  SELECT d.seq, d.event_id, d.endpoint FROM carillon.deliveries AS d
  WHERE d.event_id = ANY ($1::text[]) AND d.organization || '' = $2 AND d.event_type = 'message.received'`

const DELETE_UNMATCHED = `
  DELETE FROM carillon.unmatched_receipts WHERE id IN (
    SELECT id FROM carillon.unmatched_receipts
    WHERE id = ANY ($1::bigint[]) AND coalesce(organization, '${DEFAULT_ORGANIZATION}') = $2 ORDER BY id FOR UPDATE)
  RETURNING id`

interface MessageRow {
  readonly seq: number
  readonly event_id: string
  readonly created_at: number
  readonly payload: string
  readonly shown: boolean
}

interface UnmatchedRow {
  readonly id: number
  readonly fact: string
  readonly received_at: number
  readonly shown: boolean
}

/** First the received messages, then the reports. */
export async function readReports(runner: Runner, request: ReportsRequest): Promise<ReportsPage> {
  const { organizationId, most, after } = request
  const [part = 0, at = -1, seq = -1] = after === undefined ? [] : decodeCursor(after, 3)
  if (part === 1) return readUnmatched(runner, request, seq)
  const rows = await runner.rows<MessageRow>(SELECT_MESSAGES, [organizationId, at, seq, most])
  const last = rows.length === most ? rows.at(-1) : undefined
  return {
    items: rows.flatMap(({ event_id, payload, created_at, shown }) =>
      shown ? [{ id: event_id, kind: 'message', json: payload, at: created_at }] : [],
    ),
    next: encodeCursor(last === undefined ? [1, 0, 0] : [0, last.created_at, last.seq]),
  }
}

async function readUnmatched(
  runner: Runner,
  { organizationId, most }: ReportsRequest,
  after: number,
): Promise<ReportsPage> {
  const rows = await runner.rows<UnmatchedRow>(SELECT_UNMATCHED, [organizationId, after, most])
  const last = rows.length === most ? rows.at(-1) : undefined
  return {
    items: rows.flatMap(({ id, fact, received_at, shown }) =>
      shown ? [{ id: String(id), kind: 'receipt', json: fact, at: received_at }] : [],
    ),
    next: last === undefined ? null : encodeCursor([1, 0, last.id]),
  }
}

export async function removeReports(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<number> {
  const found = await tx.rows<DeliveryRow>(SELECT_RECEIVED, [ids, organizationId])
  const messages = new Set(found.map(({ event_id }) => event_id))
  await removeWithJobs(tx, found)
  const numbers = ids.filter((id) => /^\d{1,18}$/.test(id))
  return messages.size + (await tx.rows(DELETE_UNMATCHED, [numbers, organizationId])).length
}
