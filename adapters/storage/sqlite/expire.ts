import { OTHER_EVENT_IDS } from '../../../src/core/notification/event-payload.ts'
import { expiredContent, LONGEST_REMOVED, REMOVED } from '../../../src/core/notification/sensitive.ts'
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
import type { Connection } from './connection.ts'
import { createRemove, noJob, OF_LISTENER, type RemovedRow } from './remove.ts'
import { createSetContent } from './set-content.ts'

/**
 * Finished: no job, neither its own nor a delivery's, and the newest event (or the accept) is old enough. A listener that
 * no process has may still wait for its events.
 */
const LOOK = `
  SELECT n.seq, n.created_at AS createdAt, substr(n.id, 7) AS digits,
    coalesce((SELECT at FROM carillon_events WHERE notification = n.seq ORDER BY sequence DESC LIMIT 1), 0) <= ?
    AND ${noJob(`NOT (${OF_LISTENER})`)} AS over
  FROM carillon_notifications AS n
  WHERE n.organization = ? AND n.created_at <= ? AND (n.created_at, n.seq) > (?, ?)
  ORDER BY n.created_at, n.seq LIMIT ?`

/** The index by time finds them. Reads the content only if it is as short as a removed one. */
const LOOK_EVENTS = `
  SELECT e.at, e.notification AS seq, e.sequence, octet_length(n.content) AS bytes, n.created_at AS createdAt,
    NOT EXISTS (SELECT 1 FROM carillon_events WHERE notification = n.seq AND sequence > e.sequence) AS newest,
    (octet_length(n.content) >= ${LONGEST_REMOVED} OR substr(n.content, 1, ${REMOVED.length}) <> '${REMOVED}')
    AND (SELECT at FROM carillon_events WHERE notification = n.seq ORDER BY sequence DESC LIMIT 1) <= ?
    AND NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * n.seq) AS over
  FROM carillon_events AS e CROSS JOIN carillon_notifications AS n ON n.seq = e.notification
  WHERE e.organization = ? AND e.at <= ? AND (e.at, e.notification, e.sequence) > (?, ?, ?)
  ORDER BY e.at, e.notification, e.sequence LIMIT ?`

const SELECT_OTHER_EVENTS = `
  SELECT id, created_at AS createdAt FROM carillon_deliveries AS d
  WHERE event_id >= '${OTHER_EVENT_IDS.from}' AND event_id < '${OTHER_EVENT_IDS.until}'
    AND organization = ? AND created_at <= ? AND (created_at, id) > (?, ?)
    AND (${OF_LISTENER} OR NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1))
  ORDER BY created_at, id LIMIT ?`

const DELETE_IDEMPOTENCY = `
  DELETE FROM carillon_idempotency WHERE hash IN
    (SELECT hash FROM carillon_idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

const OLD_UNMATCHED = `
  carillon_unmatched_receipts WHERE id IN
    (SELECT id FROM carillon_unmatched_receipts ORDER BY id LIMIT ?) AND received_at <= ?`

/** The deduplication keys of unmatched receipts. */
const DELETE_THEIR_KEYS = `
  DELETE FROM carillon_receipts WHERE hash IN (SELECT hash FROM ${OLD_UNMATCHED})`

const DELETE_UNMATCHED = `
  DELETE FROM ${OLD_UNMATCHED} RETURNING provider, organization, fact, received_at`

const DELETE_RECEIPTS = `
  DELETE FROM carillon_receipts WHERE hash IN
    (SELECT hash FROM carillon_receipts WHERE received_at <= ? ORDER BY received_at LIMIT ?)`

/** Rows in a commit, which blocks the process meanwhile. */
const STEP = 100

interface OldRow extends RemovedRow {
  readonly createdAt: number
  readonly over: 0 | 1
}

interface EventPlace {
  readonly at: number
  readonly seq: number
  readonly sequence: number
  readonly bytes: number
  readonly createdAt: number
  readonly newest: 0 | 1
  readonly over: 0 | 1
}

interface OtherEvent {
  readonly id: number
  readonly createdAt: number
}

export function createExpire(
  connection: Connection,
  addresses: Pick<Addresses, 'writeOne'>,
): (request: ExpireRequest) => Promise<ExpireAnswer> {
  const look = connection.statement<OldRow>(LOOK)
  const selectOtherEvents = connection.statement<OtherEvent>(SELECT_OTHER_EVENTS)
  const lookEvents = connection.statement<EventPlace>(LOOK_EVENTS)
  const selectContent = connection.statement<{ content: string }>(
    'SELECT content FROM carillon_notifications WHERE seq = ?',
  )
  const setContent = createSetContent(connection)
  const remove = createRemove(connection)
  const deleteIdempotency = connection.statement(DELETE_IDEMPOTENCY)
  const deleteUnmatched = connection.statement<UnmatchedRow>(DELETE_UNMATCHED)
  const deleteTheirKeys = connection.statement(DELETE_THEIR_KEYS)
  const deleteReceipts = connection.statement(DELETE_RECEIPTS)

  function expireNotifications(
    { organizationId, olderThanMs, dryRun }: ExpiringNotifications,
    most: number,
    after: string | undefined,
  ): ExpireAnswer {
    const latest = connection.now() - olderThanMs
    const [time = -1, seq = -1, otherTime = -1, otherId = -1] =
      after === undefined ? [] : decodeCursor(after, 4)
    const rows = look().all(latest, organizationId, latest, time, seq, most)
    const over = rows.filter((row) => row.over === 1)
    const others = selectOtherEvents().all(organizationId, latest, otherTime, otherId, most)
    const ofThem = dryRun ? remove.deliveriesOf(over).length : remove.notifications(over)
    if (!dryRun) remove.deliveries(others.map(({ id }) => id))
    const last = rows.at(-1) ?? { createdAt: time, seq }
    const lastOther = others.at(-1) ?? { createdAt: otherTime, id: otherId }
    const reached = [last.createdAt, last.seq, lastOther.createdAt, lastOther.id]
    const isMore = rows.length === most || others.length === most
    return {
      removed: { notifications: over.length, deliveries: ofThem + others.length },
      unmatched: [],
      next: isMore ? encodeCursor(reached.map((part) => Math.max(part, 0))) : null,
      oldest: dryRun ? over[0]?.createdAt : undefined,
    }
  }

  function expireContents(
    { organizationId, contentsOlderThanMs, dryRun }: ExpiringContents,
    most: number,
    after: string | undefined,
  ): ExpireAnswer {
    const now = connection.now()
    const latest = now - contentsOlderThanMs
    const [at = -1, seq = -1, sequence = -1] = after === undefined ? [] : decodeCursor(after, 3)
    const events = lookEvents().all(latest, organizationId, latest, at, seq, sequence, most)
    // A dry run meets each event of a content: it counts the newest.
    const { last, contents } = contentsStep(events, ({ seq, over, newest, bytes }) =>
      over === 1 && (newest === 1 || !dryRun) ? [seq, bytes] : null,
    )
    if (last === undefined) return { removed: {}, unmatched: [], next: null }
    const reached = encodeCursor([last.at, last.seq, last.sequence])
    const next = last === events.at(-1) && events.length < most ? null : reached
    const answer = { removed: { contents: contents.length }, unmatched: [], next, reached }
    if (dryRun) {
      const counted = events.filter(({ seq }) => contents.includes(seq))
      return { ...answer, oldest: oldestOf(counted.map(({ createdAt }) => createdAt)) }
    }
    for (const one of contents) removeContent(one, now)
    return answer
  }

  function removeContent(seq: number, now: number): void {
    const content = selectContent().get(seq)?.content
    if (content !== undefined) setContent(seq, expiredContent(JSON.parse(content), now))
  }

  function expireRest(
    { receiptsOlderThanMs, unmatchedOlderThanMs }: ExpiringRest,
    most: number,
  ): ExpireAnswer {
    const now = connection.now()
    const idempotency = deleteIdempotency().changes(now, most)
    deleteTheirKeys().run(most, now - unmatchedOlderThanMs)
    const unmatched = deleteUnmatched().all(most, now - unmatchedOlderThanMs)
    const receipts =
      receiptsOlderThanMs === null ? 0 : deleteReceipts().changes(now - receiptsOlderThanMs, most)
    const more = addresses.writeOne() || [idempotency, unmatched.length, receipts].includes(most)
    return {
      removed: { idempotency, receipts },
      unmatched: unmatched.map(toExpiredReceipt),
      next: more ? 'more' : null,
    }
  }

  return function expire({ what, most: wanted, after }) {
    const most = Math.min(wanted, STEP)
    // After a power failure the next run removes the rows again.
    return connection[what.dryRun ? 'read' : 'write'](() => {
      if (what.organizationId === undefined) return expireRest(what, most)
      if (what.contentsOlderThanMs !== undefined) return expireContents(what, most, after)
      return expireNotifications(what, most, after)
    })
  }
}
