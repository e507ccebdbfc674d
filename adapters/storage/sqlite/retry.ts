import { createRetryPlan } from '../../../src/core/notification/retry-plan.ts'
import { LONGEST_REMOVED, REMOVED } from '../../../src/core/notification/sensitive.ts'
import type { RetryAnswer, RetryRequest } from '../../../src/core/ports/storage/notifications.ts'
import { decodeCursor, encodeCursor } from '../../../src/core/records/cursor.ts'
import { matchesFilter } from '../rows/notification.ts'
import { labelWalk } from '../scan.ts'
import type { Connection } from './connection.ts'
import type { Deliveries, Publisher } from './deliveries.ts'
import {
  type AddFacts,
  FACT_COLUMNS,
  FROM_NOTIFICATIONS,
  type NotificationRow,
  WITH_NEWEST_EVENT,
} from './facts.ts'
import { notificationJob, READY, WAITING } from './jobs.ts'
import { indexOf } from './walk.ts'

const NO_JOB = 'NOT EXISTS (SELECT 1 FROM carillon_jobs AS j WHERE j.id = 2 * n.seq)'

/** The bound applies before the filter, so a step takes a short time even if few rows match. */
const LOOK = `
  AND n.failed = 1 AND (n.created_at, n.seq) > (?, ?) AND n.created_at < ? AND ${NO_JOB}
  ORDER BY n.created_at, n.seq LIMIT ?`

/** Reads the content only if a template is asked for, or if it is as short as removed content. */
const COLUMNS = `${FACT_COLUMNS}, n.high, n.expires_at,
  CASE WHEN ? THEN json_extract(n.content, '$.template.id') END AS template_id,
  octet_length(n.content) < ${LONGEST_REMOVED} AND substr(n.content, 1, ${REMOVED.length}) = '${REMOVED}' AS removed,
  n.failed = 1 AND ${NO_JOB} AS dead`

const LOOK_AT_ALL = `SELECT ${COLUMNS} ${FROM_NOTIFICATIONS} WHERE n.organization = ? ${LOOK}`

/** The plus sign makes the planner use the index on ids. */
const LOOK_AT_IDS = `
  SELECT ${COLUMNS} ${FROM_NOTIFICATIONS}
  WHERE n.id IN (SELECT value FROM json_each(?)) AND +n.organization = ? ${LOOK}`

const ATTEMPTS = `
  SELECT max(json_extract(fact, '$.attempt')) AS attempts FROM carillon_events WHERE notification = ?`

const INSERT_JOB = `
  INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at, attempts, earlier_attempts)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

interface DeadRow extends NotificationRow {
  readonly high: number
  readonly expires_at: number | null
  readonly template_id: string | null
  readonly removed: 0 | 1
  readonly dead: 0 | 1
}

/** Retries one step of an organization's dead letters. */
export type Retry = (request: RetryRequest) => Promise<RetryAnswer>

export function createRetry(
  connection: Connection,
  { addFacts, deliveries }: { readonly addFacts: AddFacts; readonly deliveries: Deliveries },
): Retry {
  const lookAtAll = connection.statement<DeadRow>(LOOK_AT_ALL)
  const lookAtIds = connection.statement<DeadRow>(LOOK_AT_IDS)
  const countAttempts = connection.statement<{ attempts: number | null }>(ATTEMPTS)
  const insertJob = connection.statement(INSERT_JOB)

  function look({ filter, most, after }: RetryRequest): DeadRow[] {
    const { organizationId, ids, templateId, from = 0, until = Number.MAX_SAFE_INTEGER } = filter
    // One lower bound only: the planner starts at one and would filter by the other row by row.
    const [afterTime = 0, afterSeq = 0] = after === undefined ? [from, -1] : decodeCursor(after, 2)
    const withTemplate = templateId === undefined ? 0 : 1
    // One extra row shows that there are more.
    const rest = [organizationId, afterTime, afterSeq, until, most + 1] as const
    const walk = ids === undefined ? labelWalk(filter) : null
    if (walk !== null) {
      // Walks what the label marks, dead or not: a dead one may be far away in the index of failed ones.
      const { from: source, key, conditions } = indexOf(filter, walk)
      const [time, seq] = key
      const sql = `SELECT ${COLUMNS} FROM ${source} ${WITH_NEWEST_EVENT}
        WHERE ${conditions.map(([condition]) => condition).join(' AND ')}
          AND (${time}, ${seq}) > (?, ?) AND ${time} < ? ORDER BY ${time}, ${seq} LIMIT ?`
      const given = conditions.flatMap(([, ...values]) => values.map((value) => value ?? null))
      const [, ...bounds] = rest
      return connection
        .statement<DeadRow>(sql)()
        .all(withTemplate, ...given, ...bounds)
    }
    return ids === undefined
      ? lookAtAll().all(withTemplate, ...rest)
      : lookAtIds().all(withTemplate, JSON.stringify(ids), ...rest)
  }

  function retryOne(row: DeadRow, lane: string, dueAt: number, publisher: Publisher): void {
    const attempts = countAttempts().get(row.seq)?.attempts ?? 0
    addFacts(row, [{ type: 'retried' }], 'engine', publisher)
    const state = dueAt > publisher.now ? WAITING : READY
    const { seq, organization, high } = row
    insertJob().run(notificationJob(seq), organization, lane, high, state, dueAt, attempts, attempts)
  }

  function retry(request: RetryRequest): RetryAnswer {
    const { filter, most, dryRun } = request
    const publisher = deliveries.publisher(connection.now())
    const plan = createRetryPlan(request, publisher.now)
    const found = look(request)
    const rows = found.slice(0, most)
    for (const row of rows) {
      if (row.dead === 0 || !matchesFilter(row, filter)) continue
      const place = plan.place({
        channel: row.channel,
        expiresAt: row.expires_at,
        removed: row.removed === 1,
      })
      if (place !== null && dryRun !== true) retryOne(row, place.lane, place.dueAt, publisher)
    }
    const { retried, expired, unroutable, contentRemoved, nextDueAt } = plan
    const last = rows.at(-1)
    const next = found.length <= most || last === undefined ? null : encodeCursor([last.created_at, last.seq])
    return { retried, expired, unroutable, contentRemoved, nextDueAt, next }
  }

  return async (request) =>
    request.dryRun === true ? connection.read(() => retry(request)) : connection.durably(() => retry(request))
}
