import { decodeCursor, encodeCursor } from '../../../src/domain/cursor.ts'
import { ENDPOINT_EVENT_ID } from '../../../src/domain/endpoint-health.ts'
import type { Fact } from '../../../src/domain/facts.ts'
import type {
  ExpireAnswer,
  ExpiredReceipt,
  ExpireRequest,
  RetentionRepository,
  SweepAnswer,
  SweepRequest,
} from '../../../src/ports/storage/retention.ts'
import type { Connection } from './connection.ts'
import type { Statement } from './statement.ts'

/** The ids of a notification's events: `evt_<digits>_…`; a backtick is the first character after an underscore. */
const OWN_EVENTS = (digits: string): string =>
  `event_id >= 'evt_' || ${digits} || '_' AND event_id < 'evt_' || ${digits} || '\`'`

/** Over: no job, its own or a delivery's, and its newest event, or its accept, is old enough. */
const LOOK = `
  SELECT n.seq, n.created_at AS createdAt, substr(n.id, 7) AS digits,
    NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * n.seq)
      AND coalesce((SELECT at FROM carillon_events WHERE notification = n.seq ORDER BY sequence DESC LIMIT 1), 0) <= ?
      AND NOT EXISTS (
        SELECT 1 FROM carillon_deliveries AS d CROSS JOIN carillon_jobs AS j ON j.id = 2 * d.id + 1
        WHERE ${OWN_EVENTS('substr(n.id, 7)')}) AS over
  FROM carillon_notifications AS n
  WHERE n.organization = ? AND n.created_at <= ? AND (n.created_at, n.seq) > (?, ?)
  ORDER BY n.created_at, n.seq LIMIT ?`

/** The left side of the join is walked, the right one is found by its index. */
const SELECT_DELIVERIES = `
  SELECT d.id FROM json_each(?) AS n CROSS JOIN carillon_deliveries AS d ON ${OWN_EVENTS('n.value')}`

const SELECT_ENDPOINT_EVENTS = `
  SELECT id FROM carillon_deliveries AS d
  WHERE event_id >= ? AND event_id < ? AND organization = ? AND created_at <= ?
    AND NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1) LIMIT ?`

const DELETE_ATTEMPTS = `
  DELETE FROM carillon_delivery_attempts WHERE delivery IN (SELECT value FROM json_each(?))`

const DELETE_DELIVERIES = 'DELETE FROM carillon_deliveries WHERE id IN (SELECT value FROM json_each(?))'

const DELETE_HANDOVERS = `
  DELETE FROM carillon_handovers WHERE (provider, message_id, notification) IN
    (SELECT coalesce(json_extract(fact, '$.provider'), ''), json_extract(fact, '$.providerMessageId'), notification
     FROM carillon_events WHERE notification IN (SELECT value FROM json_each(?))
       AND json_extract(fact, '$.type') = 'sent' AND json_extract(fact, '$.providerMessageId') IS NOT NULL)`

const DELETE_EVENTS = 'DELETE FROM carillon_events WHERE notification IN (SELECT value FROM json_each(?))'

const DELETE_NOTIFICATIONS =
  'DELETE FROM carillon_notifications WHERE seq IN (SELECT value FROM json_each(?))'

const DELETE_IDEMPOTENCY = `
  DELETE FROM carillon_idempotency WHERE hash IN
    (SELECT hash FROM carillon_idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

const DELETE_UNMATCHED = `
  DELETE FROM carillon_unmatched_receipts WHERE id IN
    (SELECT id FROM carillon_unmatched_receipts ORDER BY id LIMIT ?) AND received_at <= ?
  RETURNING hash, provider, organization, fact, received_at`

const DELETE_RECEIPT = 'DELETE FROM carillon_receipts WHERE hash = ?'

const DELETE_RECEIPTS = `
  DELETE FROM carillon_receipts WHERE hash IN
    (SELECT hash FROM carillon_receipts WHERE received_at <= ? ORDER BY received_at LIMIT ?)`

interface OldRow {
  readonly seq: number
  readonly createdAt: number
  readonly digits: string
  readonly over: 0 | 1
}

interface UnmatchedRow {
  readonly hash: Uint8Array
  readonly provider: string
  readonly organization: string | null
  readonly fact: string
  readonly received_at: number
}

export function createRetention(connection: Connection): RetentionRepository {
  const look = connection.statement<OldRow>(LOOK)
  const selectDeliveries = connection.statement<{ id: number }>(SELECT_DELIVERIES)
  const selectEndpointEvents = connection.statement<{ id: number }>(SELECT_ENDPOINT_EVENTS)
  const ofDeliveries = [DELETE_ATTEMPTS, DELETE_DELIVERIES].map((sql) => connection.statement(sql))
  const ofNotifications = [DELETE_HANDOVERS, DELETE_EVENTS, DELETE_NOTIFICATIONS].map((sql) =>
    connection.statement(sql),
  )
  const deleteIdempotency = connection.statement(DELETE_IDEMPOTENCY)
  const deleteUnmatched = connection.statement<UnmatchedRow>(DELETE_UNMATCHED)
  const deleteReceipt = connection.statement(DELETE_RECEIPT)
  const deleteReceipts = connection.statement(DELETE_RECEIPTS)

  /** Deliveries of what is removed; at the beginning of a pass old ones about endpoints, too. */
  function selectOver(over: readonly OldRow[], request: SweepRequest, latest: number): { id: number }[] {
    const own = over.length === 0 ? [] : selectDeliveries().all(listOf(over, ({ digits }) => digits))
    if (request.after !== undefined) return own
    const until = `${ENDPOINT_EVENT_ID.slice(0, -1)}\``
    const { organizationId, most } = request
    return [...own, ...selectEndpointEvents().all(ENDPOINT_EVENT_ID, until, organizationId, latest, most)]
  }

  function sweep(request: SweepRequest): SweepAnswer {
    const { organizationId, olderThanMs, most, after } = request
    const latest = connection.now() - olderThanMs
    const [afterTime = -1, afterSeq = -1] = after === undefined ? [] : decodeCursor(after, 2)
    const rows = look().all(latest, organizationId, latest, afterTime, afterSeq, most)
    const over = rows.filter((row) => row.over === 1)
    const deliveries = selectOver(over, request, latest)
    remove(ofDeliveries, deliveries, ({ id }) => id)
    remove(ofNotifications, over, ({ seq }) => seq)
    const last = rows.at(-1)
    const next = rows.length < most || last === undefined ? null : encodeCursor([last.createdAt, last.seq])
    return { notifications: over.length, deliveries: deliveries.length, next }
  }

  function expire({ most, receiptsOlderThanMs, unmatchedOlderThanMs }: ExpireRequest): ExpireAnswer {
    const now = connection.now()
    const idempotency = deleteIdempotency().changes(now, most)
    const unmatched = deleteUnmatched().all(most, now - unmatchedOlderThanMs)
    // Reported once more it is no duplicate of what was never matched.
    for (const { hash } of unmatched) deleteReceipt().run(hash)
    const receipts =
      receiptsOlderThanMs === null ? 0 : deleteReceipts().changes(now - receiptsOlderThanMs, most)
    const more = [idempotency, unmatched.length, receipts].includes(most)
    return { idempotency, receipts, unmatched: unmatched.map(toExpired), more }
  }

  return {
    async sweep(request) {
      // A power failure that takes it only brings back what the next sweep removes again.
      return connection.write(() => sweep(request))
    },
    async expire(request) {
      return connection.write(() => expire(request))
    },
  }
}

function remove<Row>(
  statements: readonly (() => Statement<never>)[],
  rows: readonly Row[],
  key: (row: Row) => number,
): void {
  if (rows.length === 0) return
  const keys = listOf(rows, key)
  for (const statement of statements) statement().run(keys)
}

function toExpired({ provider, organization, fact, received_at }: UnmatchedRow): ExpiredReceipt {
  const { type }: Fact = JSON.parse(fact)
  return { provider, organizationId: organization, type, receivedAt: received_at }
}

function listOf<Row>(rows: readonly Row[], value: (row: Row) => string | number): string {
  return JSON.stringify(rows.map(value))
}
