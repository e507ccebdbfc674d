import type { ClaimAnswer } from '../../../src/ports/storage/claim.ts'
import type { Connection } from './connection.ts'

const MAX_LANES = 1_000

/** Loose index scans: one step per lane, however many jobs it has. */
const LANES = `
  WITH RECURSIVE lanes (lane) AS (
    SELECT min(lane) FROM carillon_jobs WHERE state = 0 AND lane > ?
    UNION ALL
    SELECT (SELECT min(lane) FROM carillon_jobs WHERE state = 0 AND lane > lanes.lane)
    FROM lanes WHERE lanes.lane IS NOT NULL
  )
  SELECT lane FROM lanes WHERE lane IS NOT NULL LIMIT ?`

const RECOVERED_LANES = `
  WITH RECURSIVE lanes (lane) AS (
    SELECT min(lane) FROM carillon_jobs WHERE state = 3
    UNION ALL
    SELECT (SELECT min(lane) FROM carillon_jobs WHERE state = 3 AND lane > lanes.lane)
    FROM lanes WHERE lanes.lane IS NOT NULL
  )
  SELECT lane FROM lanes WHERE lane IS NOT NULL`

const NEXT_DUE = 'SELECT min(due_at) AS at FROM carillon_jobs WHERE state = 1'

const NEXT_LEASE_END = 'SELECT min(lease_until) AS at FROM carillon_jobs WHERE state = 2'

/** What is claimable now, and when there will be more. */
export type Outlook = (now: number) => Omit<ClaimAnswer, 'jobs'>

export function createOutlook(connection: Connection): Outlook {
  const lanesAfter = connection.statement<{ lane: string }>(LANES)
  const recoveredLanes = connection.statement<{ lane: string }>(RECOVERED_LANES)
  const nextDue = connection.statement<{ at: number | null }>(NEXT_DUE)
  const nextLeaseEnd = connection.statement<{ at: number | null }>(NEXT_LEASE_END)
  /** Where the last answer ended, when not all lanes fitted into it: the next one begins there. */
  let cursor = ''

  function lanes(): string[] {
    const after = lanesAfter().all(cursor, MAX_LANES)
    const wrapped = cursor === '' ? [] : lanesAfter().all('', MAX_LANES - after.length)
    const found = [...new Set([...after, ...wrapped].map(({ lane }) => lane))]
    cursor = found.length === MAX_LANES ? (found.at(-1) ?? '') : ''
    return found
  }

  return function outlook(now) {
    const due = nextDue().get()?.at ?? Number.POSITIVE_INFINITY
    const leaseEnd = nextLeaseEnd().get()?.at ?? Number.POSITIVE_INFINITY
    const next = Math.min(due, leaseEnd)
    return {
      lanes: lanes(),
      recoveredLanes: recoveredLanes()
        .all()
        .map(({ lane }) => lane),
      nextDueInMs: next === Number.POSITIVE_INFINITY ? null : Math.max(0, next - now),
    }
  }
}
