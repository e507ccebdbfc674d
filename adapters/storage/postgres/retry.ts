import { createRetryPlan } from '../../../src/core/notification/retry-plan.ts'
import { REMOVED } from '../../../src/core/notification/sensitive.ts'
import type {
  NotificationRepository,
  RetryAnswer,
  RetryRequest,
} from '../../../src/core/ports/storage/notifications.ts'
import { decodeCursor, encodeCursor } from '../../../src/core/records/cursor.ts'
import { type FactRow, factColumns } from '../rows/facts.ts'
import { matchesFilter } from '../rows/notification.ts'
import { type LabelWalk, labelWalk } from '../scan.ts'
import type { Connection, Transaction } from './connection.ts'
import { addRefs } from './due-jobs.ts'
import { createLedger } from './facts.ts'
import { labelIndex } from './labels.ts'
import { FACT_COLUMNS, lockNotifications, type Standing } from './states.ts'
import type { Value } from './values.ts'

const COLUMNS = `${FACT_COLUMNS}, n.high, n.expires_at, n.template_id`

/** The bound applies before the filter, so a step takes a short time even if few rows match. */
const lookAt = (states: string): string => `
  SELECT ${COLUMNS}, true AS dead
  FROM ${states} AS s JOIN carillon.notifications AS n ON n.id = s.notification
  WHERE s.organization = $1 AND s.status = 'failed' AND s.created_at >= $2 AND s.created_at < $3
    AND (s.created_at, s.seq) > ($4, $5)
    AND NOT EXISTS (SELECT 1 FROM carillon.jobs AS j WHERE j.id = 2 * s.seq)
  ORDER BY s.created_at, s.seq LIMIT $6`

/**
 * Walks what a label marks, dead or not: a dead one may be far away in the index of failed ones.
 *
 * @param marked selects id, `created_at` and `seq`
 */
const lookAtMarked = (marked: string): string => `
  SELECT ${COLUMNS}, coalesce(s.status = 'failed', false)
    AND NOT EXISTS (SELECT 1 FROM carillon.jobs AS j WHERE j.id = 2 * n.seq) AS dead
  FROM (${marked}) AS marked
  CROSS JOIN LATERAL (SELECT * FROM carillon.notifications WHERE id = marked.id OFFSET 0) AS n
  LEFT JOIN LATERAL (SELECT status FROM carillon.states WHERE notification = marked.id OFFSET 0) AS s ON true
  ORDER BY marked.created_at, marked.seq`

/** Reads named rows first, regardless of the statistics; otherwise a plan scans all rows of the organization. */
const NAMED = '(SELECT * FROM carillon.states WHERE notification = ANY ($7::text[]) OFFSET 0)'

/** The rows were read before they were locked: meanwhile one may have been retried, or have lost its content. */
const LOOK_AGAIN = `
  SELECT n.id, left(n.content, ${REMOVED.length}) = '${REMOVED}' AS removed,
    EXISTS (SELECT 1 FROM carillon.jobs AS j WHERE j.id = 2 * n.seq) AS queued
  FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[])`

/**
 * Facts are read as text: PostgreSQL's JSON refuses a document with U+0000 or a lone surrogate. The pattern cannot
 * match inside a string, whose quotes are escaped.
 */
const COUNT_ATTEMPTS = `
  SELECT e.notification, max(substring(e.fact FROM '"attempt":([0-9]+)')::integer) AS attempts FROM carillon.events AS e
  WHERE e.notification = ANY ($1::text[]) GROUP BY e.notification`

const INSERT_JOBS = `
  INSERT INTO carillon.jobs
    (id, place, due_at, state, attempts, earlier_attempts, high, lane, organization, subject)
  SELECT 2 * seq, 2 * seq, due_at, CASE WHEN due_at > $1::bigint THEN 1 ELSE 0 END, attempts, attempts,
    high, lane, organization, subject
  FROM unnest($2::bigint[], $3::bigint[], $4::integer[], $5::boolean[], $6::text[], $7::text[], $8::text[])
    AS d (seq, due_at, attempts, high, lane, organization, subject)`

interface DeadRow extends FactRow {
  readonly high: boolean
  readonly expires_at: number | null
  readonly template_id: string | null
  readonly dead: boolean
}

interface LockedRow {
  readonly id: string
  readonly removed: boolean
  readonly queued: boolean
}

interface Retried {
  readonly row: DeadRow
  readonly standing: Standing
  readonly lane: string
  readonly dueAt: number
}

/** Retries one step of an organization's dead letters. */
export function createRetry(connection: Connection): NotificationRepository['retry'] {
  return (request) => connection.transaction((tx) => retry(tx, request))
}

async function retry(tx: Transaction, request: RetryRequest): Promise<RetryAnswer> {
  const { filter, most, dryRun } = request
  const plan = createRetryPlan(request, tx.now)
  const rows = await look(tx, request)
  const deadRows = rows.filter(({ dead }) => dead)
  const deadIds = deadRows.map(({ id }) => id)
  const standings = await lockNotifications(tx, deadIds)
  const found = deadIds.length === 0 ? [] : await tx.rows<LockedRow>(LOOK_AGAIN, [deadIds])
  const locked = new Map(found.map((row) => [row.id, row]))
  const taken: Retried[] = []
  for (const row of deadRows) {
    const standing = standings.get(row.id)
    const { queued, removed } = locked.get(row.id) ?? {}
    const dead = standing?.state.status === 'failed' && queued === false
    if (standing === undefined || !dead) continue
    if (!matchesFilter({ ...row, ...factColumns(standing.state) }, filter)) continue
    const place = plan.place({
      channel: row.channel,
      expiresAt: row.expires_at,
      removed: removed === true,
    })
    if (place !== null && dryRun !== true) taken.push({ row, standing, ...place })
  }
  await retryAll(tx, taken)
  const { retried, expired, unroutable, contentRemoved, nextDueAt } = plan
  const last = rows.at(-1)
  const next = rows.length < most || last === undefined ? null : encodeCursor([last.created_at, last.seq])
  return { retried, expired, unroutable, contentRemoved, nextDueAt, next }
}

function look(tx: Transaction, { filter, most, after }: RetryRequest): Promise<DeadRow[]> {
  const { organizationId, ids, from = 0, until = Number.MAX_SAFE_INTEGER } = filter
  const [afterTime = -1, afterSeq = -1] = after === undefined ? [] : decodeCursor(after, 2)
  const values: Value[] = [organizationId, Math.ceil(from), Math.ceil(until), afterTime, afterSeq, most]
  const walk = ids === undefined ? labelWalk(filter) : null
  if (walk !== null) return lookMarked(tx, filter, walk, values)
  if (ids === undefined) return tx.rows<DeadRow>(lookAt('carillon.states'), values)
  return tx.rows<DeadRow>(lookAt(NAMED), [...values, ids])
}

/** @param bounds from, until, the key after which to continue, and the most rows */
function lookMarked(
  tx: Transaction,
  filter: RetryRequest['filter'],
  walk: LabelWalk,
  [, from, until, afterTime, afterSeq, most]: readonly Value[],
): Promise<DeadRow[]> {
  const values: Value[] = []
  const parameter = (value: Value = null): string => `$${values.push(value)}`
  const { t, table, id, conditions } = labelIndex(filter, walk, parameter)
  const marked = `
    SELECT ${id} AS id, ${t}.created_at, ${t}.seq FROM carillon.${table} AS ${t}
    WHERE ${conditions.join(' AND ')} AND ${t}.created_at >= ${parameter(from)}::bigint
      AND ${t}.created_at < ${parameter(until)}::bigint
      AND (${t}.created_at, ${t}.seq) > (${parameter(afterTime)}::bigint, ${parameter(afterSeq)}::bigint)
    ORDER BY ${t}.created_at, ${t}.seq LIMIT ${parameter(most)}`
  return tx.rows<DeadRow>(lookAtMarked(marked), values)
}

async function retryAll(tx: Transaction, taken: readonly Retried[]): Promise<void> {
  if (taken.length === 0) return
  const ids = taken.map(({ row }) => row.id)
  const counts = await tx.rows<{ notification: string; attempts: number | null }>(COUNT_ATTEMPTS, [ids])
  const attempts = new Map(counts.map((row) => [row.notification, row.attempts ?? 0]))
  const ledger = createLedger(tx)
  for (const { standing } of taken) ledger.add(standing, [{ type: 'retried' }], 'engine')
  await ledger.write()
  await tx.rows(INSERT_JOBS, [
    tx.now,
    taken.map(({ row }) => row.seq),
    taken.map(({ dueAt }) => dueAt),
    taken.map(({ row }) => attempts.get(row.id) ?? 0),
    taken.map(({ row }) => row.high),
    taken.map(({ lane }) => lane),
    taken.map(({ row }) => row.organization),
    ids,
  ])
  addRefs(
    tx.made,
    taken.map(({ row, lane, dueAt }) => ({
      jobId: String(2 * row.seq),
      lane,
      dueInMs: Math.max(0, dueAt - tx.now),
    })),
  )
}
