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
import type { Connection, Transaction } from './connection.ts'
import { dropPast } from './drop-past.ts'

/** The ids of a notification's events: `evt_<digits>_…`; a backtick is the first character after an underscore. */
const OWN_EVENTS = (id: string): string =>
  `d.event_id >= 'evt_' || substr(${id}, 7) || '_' AND d.event_id < 'evt_' || substr(${id}, 7) || '\`'`

const LOOK = `
  SELECT n.id, n.seq, n.created_at FROM carillon.notifications AS n
  WHERE n.organization = $1 AND n.created_at <= $2 AND (n.created_at, n.seq) > ($3, $4)
  ORDER BY n.created_at, n.seq LIMIT $5`

/** Locked, so that none of them is redriven, reported about or swept by another meanwhile. */
const LOCK = `
  SELECT n.id FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[]) ORDER BY n.id FOR UPDATE`

/** Locked, so that none of them is replayed meanwhile. */
const LOCK_DELIVERIES = `
  SELECT d.event_id, d.endpoint FROM unnest($1::text[]) AS n (id), LATERAL (
    SELECT d.event_id, d.endpoint FROM carillon.deliveries AS d WHERE ${OWN_EVENTS('n.id')} FOR UPDATE) AS d`

/** Over: no job, nothing pending, and its newest event, or its accept, is old enough. */
const SELECT_OVER = `
  SELECT n.id FROM carillon.notifications AS n
  WHERE n.id = ANY ($1::text[])
    AND NOT EXISTS (SELECT 1 FROM carillon.jobs AS j WHERE j.id = 2 * n.seq)
    AND coalesce((SELECT e.at FROM carillon.states AS s
      JOIN carillon.events AS e ON e.notification = s.notification AND e.sequence = s.sequence
      WHERE s.notification = n.id), 0) <= $2
    AND NOT EXISTS (
      SELECT 1 FROM carillon.deliveries AS d WHERE ${OWN_EVENTS('n.id')} AND d.state = 'pending')`

const SELECT_DELIVERIES = `
  SELECT d.event_id, d.endpoint FROM unnest($1::text[]) AS n (id), LATERAL (
    SELECT d.event_id, d.endpoint FROM carillon.deliveries AS d WHERE ${OWN_EVENTS('n.id')}) AS d`

const SELECT_ENDPOINT_EVENTS = `
  SELECT d.event_id, d.endpoint FROM carillon.deliveries AS d
  WHERE d.event_id >= $1 AND d.event_id < $2 AND d.organization = $3 AND d.created_at <= $4
    AND d.state <> 'pending' LIMIT $5`

const NAMED = 'unnest($1::text[], $2::text[]) AS g (event_id, endpoint)'

const DELETE_ATTEMPTS = `
  DELETE FROM carillon.delivery_attempts AS a USING ${NAMED}
  WHERE a.event_id = g.event_id AND a.endpoint = g.endpoint`

const DELETE_DELIVERIES = `
  DELETE FROM carillon.deliveries AS d USING ${NAMED}
  WHERE d.event_id = g.event_id AND d.endpoint = g.endpoint RETURNING d.seq`

/** Read as text: PostgreSQL's own JSON refuses a document with U+0000 or half a character in it. */
const SELECT_HANDED_OVER = `
  SELECT e.notification, e.fact FROM carillon.events AS e
  WHERE e.notification = ANY ($1::text[]) AND e.fact LIKE '%"providerMessageId":"%'`

/** The key of a hand-over begins with its provider. */
const DELETE_HANDOVERS = `
  DELETE FROM carillon.handovers AS h
  USING unnest($1::text[], $2::text[], $3::text[]) AS s (provider, message_id, notification)
  WHERE h.provider = s.provider AND h.message_id = s.message_id AND h.notification = s.notification`

const OF_NOTIFICATIONS = [
  'DELETE FROM carillon.events WHERE notification = ANY ($1::text[])',
  'DELETE FROM carillon.states WHERE notification = ANY ($1::text[])',
  'DELETE FROM carillon.notifications WHERE id = ANY ($1::text[])',
]

const DELETE_IDEMPOTENCY = `
  DELETE FROM carillon.idempotency WHERE hash IN (
    SELECT hash FROM carillon.idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING expires_at`

/**
 * Reported once more it is no duplicate of what was never matched. No index has the time: the first are the oldest, and no more
 * are looked at.
 */
const DELETE_UNMATCHED = `
  WITH gone AS (
    DELETE FROM carillon.unmatched_receipts WHERE id IN (
      SELECT id FROM carillon.unmatched_receipts
      WHERE id = ANY (ARRAY(SELECT id FROM carillon.unmatched_receipts ORDER BY id LIMIT $2)) AND received_at <= $1
      ORDER BY id FOR UPDATE SKIP LOCKED)
    RETURNING id, hash, provider, organization, fact, received_at),
  keys AS (DELETE FROM carillon.receipts AS r USING gone WHERE r.hash = gone.hash)
  SELECT provider, organization, fact, received_at FROM gone ORDER BY id`

const DELETE_RECEIPTS = `
  DELETE FROM carillon.receipts WHERE hash IN (
    SELECT hash FROM carillon.receipts WHERE received_at <= $1 ORDER BY received_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING received_at`

interface OldRow {
  readonly id: string
  readonly seq: number
  readonly created_at: number
}

interface DeliveryRow {
  readonly event_id: string
  readonly endpoint: string
}

interface UnmatchedRow {
  readonly provider: string
  readonly organization: string | null
  readonly fact: string
  readonly received_at: number
}

export function createRetention(connection: Connection): RetentionRepository {
  return {
    sweep: (request) => connection.transaction((tx) => sweep(tx, request)),
    expire: (request) => connection.transaction((tx) => expire(tx, request)),
    dropPast: (defaultDays) => dropPast(connection, defaultDays),
  }
}

async function sweep(tx: Transaction, request: SweepRequest): Promise<SweepAnswer> {
  const { organizationId, olderThanMs, most, after } = request
  const latest = Math.floor(tx.now - olderThanMs)
  const [afterTime = -1, afterSeq = -1] = after === undefined ? [] : decodeCursor(after, 2)
  const rows = await tx.rows<OldRow>(LOOK, [organizationId, latest, afterTime, afterSeq, most])
  const isOver = async (ids: readonly string[]): Promise<string[]> =>
    ids.length === 0 ? [] : (await tx.rows<{ id: string }>(SELECT_OVER, [ids, latest])).map(({ id }) => id)
  // Most others are at work on what is not over: it is not locked, so that none of them is met halfway.
  const found = await isOver(rows.map(({ id }) => id))
  if (found.length > 0) {
    await tx.rows(LOCK, [found])
    await tx.rows(LOCK_DELIVERIES, [found])
  }
  const over = await isOver(found)
  const deliveries = await removeDeliveries(tx, over, request, latest)
  if (over.length > 0) {
    await removeHandovers(tx, over)
    for (const statement of OF_NOTIFICATIONS) await tx.rows(statement, [over])
  }
  const last = rows.at(-1)
  const next = rows.length < most || last === undefined ? null : encodeCursor([last.created_at, last.seq])
  return { notifications: over.length, deliveries, next }
}

/** Deliveries of what is removed; at the beginning of a pass old ones about endpoints, too. */
async function removeDeliveries(
  tx: Transaction,
  over: readonly string[],
  { organizationId, most, after }: SweepRequest,
  latest: number,
): Promise<number> {
  const found = over.length === 0 ? [] : await tx.rows<DeliveryRow>(SELECT_DELIVERIES, [over])
  if (after === undefined) {
    const until = `${ENDPOINT_EVENT_ID.slice(0, -1)}\``
    const values = [ENDPOINT_EVENT_ID, until, organizationId, latest, most]
    found.push(...(await tx.rows<DeliveryRow>(SELECT_ENDPOINT_EVENTS, values)))
  }
  if (found.length === 0) return 0
  const named = [found.map(({ event_id }) => event_id), found.map(({ endpoint }) => endpoint)]
  await tx.rows(DELETE_ATTEMPTS, named)
  return (await tx.rows(DELETE_DELIVERIES, named)).length
}

async function removeHandovers(tx: Transaction, over: readonly string[]): Promise<void> {
  const rows = await tx.rows<{ notification: string; fact: string }>(SELECT_HANDED_OVER, [over])
  const sent = rows.flatMap(({ notification, fact }) => {
    const { type, provider = '', providerMessageId }: Fact = JSON.parse(fact)
    return type === 'sent' && providerMessageId !== undefined
      ? [{ notification, provider, providerMessageId }]
      : []
  })
  if (sent.length === 0) return
  await tx.rows(DELETE_HANDOVERS, [
    sent.map(({ provider }) => provider),
    sent.map(({ providerMessageId }) => providerMessageId),
    sent.map(({ notification }) => notification),
  ])
}

async function expire(tx: Transaction, request: ExpireRequest): Promise<ExpireAnswer> {
  const { most, receiptsOlderThanMs, unmatchedOlderThanMs } = request
  const idempotency = (await tx.rows(DELETE_IDEMPOTENCY, [tx.now, most])).length
  const latest = Math.floor(tx.now - unmatchedOlderThanMs)
  const unmatched = await tx.rows<UnmatchedRow>(DELETE_UNMATCHED, [latest, most])
  const receipts =
    receiptsOlderThanMs === null
      ? 0
      : (await tx.rows(DELETE_RECEIPTS, [Math.floor(tx.now - receiptsOlderThanMs), most])).length
  const more = [idempotency, unmatched.length, receipts].includes(most)
  return { idempotency, receipts, unmatched: unmatched.map(toExpired), more }
}

function toExpired({ provider, organization, fact, received_at }: UnmatchedRow): ExpiredReceipt {
  const { type }: Fact = JSON.parse(fact)
  return { provider, organizationId: organization, type, receivedAt: received_at }
}
