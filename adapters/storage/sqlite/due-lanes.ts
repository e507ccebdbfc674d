import type { ClaimAnswer } from '../../../src/core/ports/storage/claim.ts'
import type { Connection } from './connection.ts'
import type { Statement } from './statement.ts'

const MAX_LANES = 1_000

/** One step of a loose index scan, which skips all jobs of a lane. */
const NEXT_LANE = `
  SELECT lane FROM carillon_jobs WHERE state = 0 AND lane > ? ORDER BY lane LIMIT 1`

const NEXT_RECOVERED_LANE = `
  SELECT lane FROM carillon_jobs WHERE state = 3 AND lane > ? ORDER BY lane LIMIT 1`

const NEXT_DUE = 'SELECT min(due_at) AS at FROM carillon_jobs WHERE state = 1'

const NEXT_LEASE_END = 'SELECT min(lease_until) AS at FROM carillon_jobs WHERE state = 2'

/** The claimable lanes, and the time of the next due job. */
export type DueLanes = (now: number) => Omit<ClaimAnswer, 'jobs'>

export function createDueLanes(connection: Connection): DueLanes {
  const nextLane = connection.statement<{ lane: string }>(NEXT_LANE)
  const nextRecoveredLane = connection.statement<{ lane: string }>(NEXT_RECOVERED_LANE)
  const nextDue = connection.statement<{ at: number | null }>(NEXT_DUE)
  const nextLeaseEnd = connection.statement<{ at: number | null }>(NEXT_LEASE_END)
  /** Last lane of a partial answer. The next claim starts behind it. */
  let cursor = ''

  function lanes(): string[] {
    const found = lanesAfter(nextLane(), cursor, MAX_LANES)
    const wrapped = cursor === '' ? [] : lanesAfter(nextLane(), '', MAX_LANES - found.length)
    found.push(...wrapped.filter((lane) => lane <= cursor))
    cursor = found.length === MAX_LANES ? (found.at(-1) ?? '') : ''
    return found
  }

  return function dueLanes(now) {
    const due = nextDue().get()?.at ?? Number.POSITIVE_INFINITY
    const leaseEnd = nextLeaseEnd().get()?.at ?? Number.POSITIVE_INFINITY
    const next = Math.min(due, leaseEnd)
    return {
      lanes: lanes(),
      recoveredLanes: lanesAfter(nextRecoveredLane(), '', MAX_LANES),
      nextDueInMs: next === Number.POSITIVE_INFINITY ? null : Math.max(0, next - now),
    }
  }
}

function lanesAfter(next: Statement<{ readonly lane: string }>, after: string, most: number): string[] {
  const lanes: string[] = []
  let last = after
  while (lanes.length < most) {
    const lane = next.get(last)?.lane
    if (lane === undefined) break
    lanes.push(lane)
    last = lane
  }
  return lanes
}
