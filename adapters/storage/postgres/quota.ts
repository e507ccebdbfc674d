import type { AcceptRequest } from '../../../src/ports/storage/accept.ts'
import type { Connection, Runner } from './connection.ts'

const SELECT = 'SELECT used FROM carillon.usage WHERE organization = $1 AND period = $2'

const SELECT_SET = `
  SELECT u.organization, u.period, u.used FROM unnest($1::text[], $2::text[]) AS wanted (organization, period)
  JOIN carillon.usage AS u USING (organization, period)`

/** In one order, so that two sets cannot wait for each other. */
const LOCK_SET = `
  INSERT INTO carillon.usage AS u (organization, period, used)
  SELECT organization, period, 0 FROM unnest($1::text[], $2::text[]) AS wanted (organization, period)
  ORDER BY organization, period
  ON CONFLICT (organization, period) DO UPDATE SET used = u.used
  RETURNING organization, period, used`

const ADD = `
  UPDATE carillon.usage AS u SET used = u.used + counted.used
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS counted (organization, period, used)
  WHERE u.organization = counted.organization AND u.period = counted.period`

/** How much of a quota is used. */
export function createQuotaUsed(
  connection: Connection,
): (organizationId: string, period: string) => Promise<number> {
  return async function quotaUsed(organizationId, period) {
    const [row] = await connection.rows<{ used: number }>(SELECT, [organizationId, period])
    return row?.used ?? 0
  }
}

interface UsageRow {
  readonly organization: string
  readonly period: string
  readonly used: number
}

/** The quotas of one set of requests, locked as long as its transaction lasts. */
export interface Quotas {
  /** How many of a request's notifications its quota still takes. */
  admits(request: AcceptRequest): number
  count(request: AcceptRequest, admitted: number): void
  write(): Promise<void>
}

export async function lockQuotas(runner: Runner, requests: readonly AcceptRequest[]): Promise<Quotas> {
  const metered = requests.filter(({ quota }) => quota !== undefined)
  const used = new Map<string, number>()
  const counted = new Map<string, UsageRow>()
  // A dry run alone locks nothing, and stores no row.
  const drawn = metered.filter(({ dryRun }) => dryRun !== true)
  for (const [statement, some] of [
    [SELECT_SET, metered.filter(({ dryRun }) => dryRun === true)],
    [LOCK_SET, drawn],
  ] as const) {
    const pairs = new Map(some.map((request) => [keyOf(request), request]))
    if (pairs.size === 0) continue
    const organizations = [...pairs.values()].map(({ organizationId }) => organizationId)
    const periods = [...pairs.values()].map(({ quota }) => quota?.period ?? '')
    for (const row of await runner.rows<UsageRow>(statement, [organizations, periods])) {
      used.set(`${row.organization} ${row.period}`, row.used)
    }
  }

  return {
    admits(request) {
      const { notifications, quota } = request
      if (quota === undefined) return notifications.length
      return Math.min(notifications.length, Math.max(0, quota.limit - (used.get(keyOf(request)) ?? 0)))
    },
    count(request, admitted) {
      const { organizationId, quota } = request
      if (quota === undefined || admitted === 0) return
      const key = keyOf(request)
      used.set(key, (used.get(key) ?? 0) + admitted)
      const before = counted.get(key)?.used ?? 0
      counted.set(key, { organization: organizationId, period: quota.period, used: before + admitted })
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

const keyOf = ({ organizationId, quota }: AcceptRequest): string => `${organizationId} ${quota?.period}`
