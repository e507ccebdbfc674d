import { admittedOf, countedOf } from '../../../src/core/accept/admit.ts'
import type { AcceptRequest } from '../../../src/core/ports/storage/accept.ts'
import type { RecordWrite } from '../../../src/core/ports/storage/records.ts'
import type { Connection, Runner } from './connection.ts'
import type { Value } from './values.ts'

/** What a quota counts. */
type Counted = Pick<AcceptRequest<RecordWrite>, 'organizationId' | 'notifications' | 'quota' | 'records'>

/** Folded usage plus the additions that are not folded yet. */
const SELECT_SET = `
  SELECT organization, period,
    coalesce((SELECT u.used FROM carillon.usage AS u
      WHERE u.organization = wanted.organization AND u.period = wanted.period), 0) AS used,
    coalesce((SELECT sum(a.used) FROM carillon.usage_additions AS a
      WHERE a.organization = wanted.organization AND a.period = wanted.period), 0)::bigint AS added
  FROM unnest($1::text[], $2::text[]) AS wanted (organization, period)`

/** Excludes draws (migrations/0001-initial/draw.ts). The next statement sees what they counted. */
const LOCK_OUT_DRAWS = `
  SELECT pg_advisory_xact_lock(hashtextextended('carillon.quota ' || organization || ' ' || period, 0))
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS w (organization, period)
    ORDER BY organization, period) AS wanted`

/**
 * In a fixed order, so that two sets cannot deadlock. Also deletes the unfolded additions, which requires the exclusive
 * lock.
 */
const LOCK_SET = `
  WITH locked AS (
    INSERT INTO carillon.usage AS u (organization, period, used)
    SELECT organization, period, 0 FROM unnest($1::text[], $2::text[]) AS wanted (organization, period)
    ORDER BY organization, period
    ON CONFLICT (organization, period) DO UPDATE SET used = u.used
    RETURNING organization, period, used),
  folded AS (
    DELETE FROM carillon.usage_additions AS a USING locked AS l
    WHERE a.organization = l.organization AND a.period = l.period
    RETURNING a.organization, a.period, a.used)
  SELECT l.organization, l.period, l.used,
    coalesce((SELECT sum(f.used) FROM folded AS f
      WHERE f.organization = l.organization AND f.period = l.period), 0)::bigint AS added
  FROM locked AS l`

const SELECT_ADDED = `
  SELECT DISTINCT organization, period FROM carillon.usage_additions ORDER BY organization, period LIMIT 100`

/** Locked, so that none is removed before its additions are folded. */
const KEEP = `
  SELECT id FROM carillon.r_organizations WHERE id = ANY ($1::text[]) ORDER BY id FOR KEY SHARE`

const ADD = `
  UPDATE carillon.usage AS u SET used = u.used + counted.used
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS counted (organization, period, used)
  WHERE u.organization = counted.organization AND u.period = counted.period`

/** Usage of a quota. */
export function createQuotaUsed(
  connection: Connection,
): (organizationId: string, period: string) => Promise<number> {
  return async function quotaUsed(organizationId, period) {
    const [row] = await connection.rows<UsageRow>(SELECT_SET, [[organizationId], [period]])
    return row === undefined ? 0 : row.used + row.added
  }
}

/**
 * Folds the counts of callers' transactions, so that they stay few rows.
 *
 * @returns false if there may be more
 */
export function createFoldUsage(connection: Connection): () => Promise<boolean> {
  return async function foldUsage() {
    const found = await connection.rows<Pick<UsageRow, 'organization' | 'period'>>(SELECT_ADDED)
    if (found.length === 0) return true
    await connection.transaction(async (tx) => {
      const organizations = await tx.rows<{ id: string }>(KEEP, [
        found.map(({ organization }) => organization),
      ])
      const kept = new Set(organizations.map(({ id }) => id))
      const nothing = found.flatMap(({ organization, period }) =>
        kept.has(organization)
          ? [{ organizationId: organization, notifications: [], quota: { period, limit: 0 } }]
          : [],
      )
      await (await takeQuotas(tx, nothing)).write()
    })
    return found.length < 100
  }
}

interface UsageRow {
  readonly organization: string
  readonly period: string
  readonly used: number
  readonly added: number
}

/** Quotas of one set of requests, locked until the end of the transaction. */
export interface Quotas {
  /** How many of the request's notifications the quota admits. */
  admits(request: Counted): number
  count(request: Counted, admitted: number): void
  write(): Promise<void>
}

/** Locks the quotas of requests, to admit exactly. */
export async function lockQuotas(runner: Runner, requests: readonly Counted[]): Promise<Quotas> {
  const { organizations, periods } = columnsOf(requests)
  if (organizations.length > 0) await runner.rows(LOCK_OUT_DRAWS, [organizations, periods])
  return takeQuotas(runner, requests)
}

/** Values of a draw on the requests' quotas. Null: no quota. */
export function drawOf(requests: readonly Counted[]): readonly Value[] | null {
  const { organizations, periods, limits, counts } = columnsOf(requests)
  return organizations.length === 0 ? null : [organizations, periods, limits, counts]
}

interface QuotaColumns {
  readonly organizations: string[]
  readonly periods: string[]
  readonly limits: number[]
  readonly counts: number[]
}

/** Each quota once, with the sum of the requests. */
function columnsOf(requests: readonly Counted[]): QuotaColumns {
  const columns: QuotaColumns = { organizations: [], periods: [], limits: [], counts: [] }
  const positions = new Map<string, number>()
  for (const request of requests) {
    const { organizationId, notifications, quota } = request
    const counted = countedOf(notifications, notifications.length)
    // Without any that count, everything is admitted.
    if (quota === undefined || counted < Math.min(1, notifications.length)) continue
    const position = positions.get(keyOf(request)) ?? positions.size
    positions.set(keyOf(request), position)
    columns.organizations[position] = organizationId
    columns.periods[position] = quota.period
    columns.limits[position] = Math.min(columns.limits[position] ?? quota.limit, quota.limit)
    columns.counts[position] = (columns.counts[position] ?? 0) + counted
  }
  return columns
}

async function takeQuotas(runner: Runner, requests: readonly Counted[]): Promise<Quotas> {
  const { organizations, periods } = columnsOf(requests)
  const used = new Map<string, number>()
  const counted = new Map<string, Omit<UsageRow, 'added'>>()
  if (organizations.length > 0) {
    for (const row of await runner.rows<UsageRow>(LOCK_SET, [organizations, periods])) {
      const key = `${row.organization} ${row.period}`
      used.set(key, row.used + row.added)
      if (row.added > 0) counted.set(key, { ...row, used: row.added })
    }
  }

  return {
    admits(request) {
      const { notifications, quota } = request
      if (quota === undefined) return notifications.length
      return admittedOf(request, Math.max(0, quota.limit - (used.get(keyOf(request)) ?? 0)))
    },
    count(request, admitted) {
      const { organizationId, notifications, quota } = request
      const added = countedOf(notifications, admitted)
      if (quota === undefined || added === 0) return
      const key = keyOf(request)
      used.set(key, (used.get(key) ?? 0) + added)
      const before = counted.get(key)?.used ?? 0
      counted.set(key, { organization: organizationId, period: quota.period, used: before + added })
    },
    async write() {
      if (counted.size === 0) return
      const rows = [...counted.values()]
      await runner.rows(ADD, [
        rows.map(({ organization }) => organization),
        rows.map(({ period }) => period),
        rows.map((row) => row.used),
      ])
    },
  }
}

const keyOf = ({ organizationId, quota }: Counted): string => `${organizationId} ${quota?.period}`
