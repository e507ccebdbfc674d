import { isListener } from '../../../src/core/delivery/listeners.ts'
import { OTHER_EVENT_IDS } from '../../../src/core/notification/event-payload.ts'
import { expiredContent, REMOVED } from '../../../src/core/notification/sensitive.ts'
import type {
  ExpireAnswer,
  ExpireRequest,
  ExpiringContents,
  ExpiringNotifications,
  ExpiringRest,
} from '../../../src/core/ports/storage/expire.ts'
import { decodeCursor, encodeCursor } from '../../../src/core/records/cursor.ts'
import { contentsStep, oldestOf } from '../contents-step.ts'
import { toExpiredReceipt, type UnmatchedRow } from '../rows/expired-receipt.ts'
import type { Addresses } from './addresses.ts'
import type { Connection, Transaction } from './connection.ts'
import { dropPast } from './drop-past.ts'
import {
  type DeliveryRow,
  deliveriesOf,
  LOCK_NOTIFICATIONS,
  noJob,
  OF_LISTENER,
  OWN_EVENTS,
  removeDeliveries,
  removeNotifications,
  removeWithJobs,
} from './remove.ts'
import { setContents } from './set-contents.ts'

const LOOK = `
  SELECT n.id, n.seq, n.created_at FROM carillon.notifications AS n
  WHERE n.organization = $1 AND n.created_at <= $2 AND (n.created_at, n.seq) > ($3, $4)
  ORDER BY n.created_at, n.seq LIMIT $5`

/** When the newest event of the notification `n` was. 0: it has only its accept. */
const newestAt = `coalesce((SELECT e.at FROM carillon.states AS s
      JOIN carillon.events AS e ON e.notification = s.notification AND e.sequence = s.sequence
      WHERE s.notification = n.id), 0)`

/** What keeps a notification: a job, something pending, or that its newest event (or the accept) is not old enough. */
const keptBy = (deliveries: string) => ({
  /** Against concurrent redelivery. */
  lock: `
  SELECT d.event_id, d.endpoint FROM unnest($1::text[]) AS n (id), LATERAL (
    SELECT d.event_id, d.endpoint FROM carillon.deliveries AS d
    WHERE ${OWN_EVENTS('n.id')} AND ${deliveries} FOR UPDATE) AS d`,
  selectOver: `
  SELECT n.id FROM carillon.notifications AS n
  WHERE n.id = ANY ($1::text[]) AND ${noJob(deliveries)}
    AND ${newestAt} <= $2`,
})

export const KEPT_BY_ALL: Kept = keptBy('true')

/** A listener that no process has may still wait for its events. */
const KEPT_BUT_FOR_LISTENERS: Kept = keptBy(`NOT (${OF_LISTENER})`)

/** The index by time finds them. */
const LOOK_EVENTS = `
  SELECT e.at, e.seq, e.sequence, e.notification FROM carillon.events AS e
  WHERE e.organization = $1 AND e.at <= $2 AND (e.at, e.seq, e.sequence) > ($3, $4, $5)
  ORDER BY e.at, e.seq, e.sequence LIMIT $6`

const selectContents = (columns: string): string => `
  SELECT ${columns} FROM carillon.notifications AS n
  WHERE n.id = ANY ($1::text[]) AND left(n.content, ${REMOVED.length}) <> '${REMOVED}'
    AND NOT EXISTS (SELECT 1 FROM carillon.jobs AS j WHERE j.id = 2 * n.seq) AND ${newestAt} <= $2`

const OLD_CONTENT = `n.id, n.created_at, octet_length(n.content) AS bytes,
    (SELECT s.sequence FROM carillon.states AS s WHERE s.notification = n.id) AS newest`

const SELECT_OTHER_EVENTS = `
  SELECT d.seq, d.event_id, d.endpoint, d.created_at FROM carillon.deliveries AS d
  WHERE d.event_id >= '${OTHER_EVENT_IDS.from}' AND d.event_id < '${OTHER_EVENT_IDS.until}'
    AND d.organization = $1 AND d.created_at <= $2 AND (d.created_at, d.seq) > ($3, $4)
    AND (d.state <> 'pending' OR ${OF_LISTENER})
  ORDER BY d.created_at, d.seq LIMIT $5`

const DELETE_IDEMPOTENCY = `
  DELETE FROM carillon.idempotency WHERE hash IN (
    SELECT hash FROM carillon.idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED)
  RETURNING expires_at`

/**
 * Removes unmatched receipts with their deduplication keys. There is no index by time: the first rows are the oldest,
 * and the number of rows is bounded.
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

type Kept = ReturnType<typeof keptBy>

interface EventPlace {
  readonly at: number
  readonly seq: number
  readonly sequence: number
  readonly notification: string
}

interface OldContent {
  readonly id: string
  readonly created_at: number
  readonly bytes: number
  /** Sequence number of its newest event. */
  readonly newest: number | null
}

type OtherEvent = DeliveryRow & { readonly created_at: number }

interface OldRow {
  readonly id: string
  readonly seq: number
  readonly created_at: number
}

export function createExpire(
  connection: Connection,
  addresses: Pick<Addresses, 'write'>,
): (request: ExpireRequest) => Promise<ExpireAnswer> {
  return async function expire(request) {
    const { what } = request
    if (what.contentsOlderThanMs !== undefined) {
      return connection.transaction((tx) => expireContents(tx, what, request))
    }
    if (what.organizationId !== undefined) {
      return connection.transaction((tx) => expireNotifications(tx, what, request))
    }
    const answer = await connection.transaction((tx) => expireRest(tx, what, request))
    if (answer.next !== null) return answer
    if (await addresses.write()) return { ...answer, next: 'more' }
    const partitions = await dropPast(connection, what.longestMs)
    return { ...answer, removed: { ...answer.removed, partitions } }
  }
}

async function expireNotifications(
  tx: Transaction,
  { organizationId, olderThanMs, dryRun }: ExpiringNotifications,
  { most, after }: ExpireRequest,
): Promise<ExpireAnswer> {
  const latest = Math.floor(tx.now - olderThanMs)
  const [time = -1, seq = -1, otherTime = -1, otherSeq = -1] =
    after === undefined ? [] : decodeCursor(after, 4)
  const rows = await tx.rows<OldRow>(LOOK, [organizationId, latest, time, seq, most])
  const ids = rows.map(({ id }) => id)
  // Other transactions mostly work on unfinished notifications, which are not locked here.
  const found = await selectOver(tx, ids, latest, KEPT_BUT_FOR_LISTENERS)
  const others = await tx.rows<OtherEvent>(SELECT_OTHER_EVENTS, [
    organizationId,
    latest,
    otherTime,
    otherSeq,
    most,
  ])
  const last = rows.at(-1) ?? { created_at: time, seq }
  const lastOther = others.at(-1) ?? { created_at: otherTime, seq: otherSeq }
  const reached = [last.created_at, last.seq, lastOther.created_at, lastOther.seq]
  const isMore = rows.length === most || others.length === most
  const next = isMore ? encodeCursor(reached.map((part) => Math.max(part, 0))) : null
  if (dryRun) {
    const deliveries = (await deliveriesOf(tx, found)).length + others.length
    const oldest = rows.find(({ id }) => found.includes(id))?.created_at
    return { removed: { notifications: found.length, deliveries }, unmatched: [], next, oldest }
  }
  const { over, deliveries } = await removeOver(tx, found, latest, KEPT_BUT_FOR_LISTENERS)
  const removed = { notifications: over, deliveries: deliveries + (await removeAll(tx, others)) }
  return { removed, unmatched: [], next }
}

async function expireContents(
  tx: Transaction,
  { organizationId, contentsOlderThanMs, dryRun }: ExpiringContents,
  { most, after }: ExpireRequest,
): Promise<ExpireAnswer> {
  const latest = Math.floor(tx.now - contentsOlderThanMs)
  const [at = -1, seq = -1, sequence = -1] = after === undefined ? [] : decodeCursor(after, 3)
  const events = await tx.rows<EventPlace>(LOOK_EVENTS, [organizationId, latest, at, seq, sequence, most])
  const named = [...new Set(events.map(({ notification }) => notification))]
  // As below: unfinished ones are not locked.
  const found = await tx.rows<OldContent>(selectContents(OLD_CONTENT), [named, latest])
  const byId = new Map(found.map((row) => [row.id, row]))
  const step = contentsStep(events, ({ notification, sequence }) => {
    const row = byId.get(notification)
    // A dry run meets each event of a content: it counts the newest.
    return row === undefined || (dryRun && row.newest !== sequence) ? null : [notification, row.bytes]
  })
  const { last } = step
  if (last === undefined) return { removed: {}, unmatched: [], next: null }
  const reached = encodeCursor([last.at, last.seq, last.sequence])
  const next = last === events.at(-1) && events.length < most ? null : reached
  if (dryRun) {
    const oldest = oldestOf(step.contents.flatMap((id) => byId.get(id)?.created_at ?? []))
    return { removed: { contents: step.contents.length }, unmatched: [], next, reached, oldest }
  }
  const contents = await removeContents(tx, step.contents, latest)
  return { removed: { contents }, unmatched: [], next, reached }
}

async function removeContents(tx: Transaction, found: readonly string[], latest: number): Promise<number> {
  if (found.length === 0) return 0
  await tx.rows(LOCK_NOTIFICATIONS, [found])
  const rows = await tx.rows<{ id: string; content: string }>(selectContents('n.id, n.content'), [
    found,
    latest,
  ])
  const contents = rows.map(({ id, content }) => ({
    id,
    content: expiredContent(JSON.parse(content), tx.now),
  }))
  await setContents(tx, contents)
  return contents.length
}

async function selectOver(
  tx: Transaction,
  ids: readonly string[],
  latest: number,
  kept: Kept,
): Promise<string[]> {
  if (ids.length === 0) return []
  return (await tx.rows<{ id: string }>(kept.selectOver, [ids, latest])).map(({ id }) => id)
}

/** Removes the given notifications that are still finished. Returns their number with their deliveries. */
export async function removeOver(
  tx: Transaction,
  found: readonly string[],
  latest: number,
  kept: Kept,
): Promise<{ readonly over: number; readonly deliveries: number }> {
  if (found.length === 0) return { over: 0, deliveries: 0 }
  await tx.rows(LOCK_NOTIFICATIONS, [found])
  await tx.rows(kept.lock, [found])
  const over = await selectOver(tx, found, latest, kept)
  const deliveries = await removeAll(tx, await deliveriesOf(tx, over))
  await removeNotifications(tx, over)
  return { over: over.length, deliveries }
}

async function removeAll(tx: Transaction, found: readonly DeliveryRow[]): Promise<number> {
  const waiting = found.filter(({ endpoint }) => isListener(endpoint))
  const others = found.filter(({ endpoint }) => !isListener(endpoint))
  return (await removeWithJobs(tx, waiting)) + (await removeDeliveries(tx, others))
}

async function expireRest(
  tx: Transaction,
  { receiptsOlderThanMs, unmatchedOlderThanMs }: ExpiringRest,
  { most }: ExpireRequest,
): Promise<ExpireAnswer> {
  const idempotency = (await tx.rows(DELETE_IDEMPOTENCY, [tx.now, most])).length
  const latest = Math.floor(tx.now - unmatchedOlderThanMs)
  const unmatched = await tx.rows<UnmatchedRow>(DELETE_UNMATCHED, [latest, most])
  const receipts =
    receiptsOlderThanMs === null
      ? 0
      : (await tx.rows(DELETE_RECEIPTS, [Math.floor(tx.now - receiptsOlderThanMs), most])).length
  const more = [idempotency, unmatched.length, receipts].includes(most)
  return {
    removed: { idempotency, receipts },
    unmatched: unmatched.map(toExpiredReceipt),
    next: more ? 'more' : null,
  }
}
