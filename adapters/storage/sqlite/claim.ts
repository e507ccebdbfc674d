import { beginningLanes } from '../../../src/core/delivery/beginning-lanes.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../../src/core/ports/storage/claim.ts'
import { createClaimedReader } from './claimed.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import type { DueLanes } from './due-lanes.ts'
import { subjectOf } from './jobs.ts'
import type { RecoverExpired } from './recover.ts'
import {
  createRoundRobin,
  JOB_COLUMNS,
  type JobRow,
  LEASE,
  LEASE_AND_BEGIN,
  type LeaseJob,
} from './round-robin.ts'
import { createTokens } from './tokens.ts'

const ANY_DUE = 'SELECT 1 AS found FROM carillon_jobs WHERE state = 1 AND due_at <= ? LIMIT 1'

/** Bounded: a large number of jobs that become due at once is promoted in steps. */
const PROMOTE_DUE = `
  UPDATE carillon_jobs SET state = CASE recovered WHEN 1 THEN 3 ELSE 0 END
  WHERE id IN (SELECT id FROM carillon_jobs WHERE state = 1 AND due_at <= ? ORDER BY due_at LIMIT 1000)`

const SELECT_DUE = `
  SELECT ${JOB_COLUMNS} FROM carillon_jobs WHERE id = ? AND (state = 0 OR state = 1 AND due_at <= ? AND recovered = 0)`

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

const OLDEST_RECOVERED = `
  SELECT ${JOB_COLUMNS} FROM carillon_jobs WHERE state = 3 AND lane IN (SELECT value FROM json_each(?))
  ORDER BY id LIMIT 1`

type Claim = (request: ClaimRequest) => Promise<ClaimAnswer>

/** Leases due jobs, one commit per claim. */
export function createClaim(
  connection: Connection,
  parts: {
    readonly deliveries: Deliveries
    readonly dueLanes: DueLanes
    readonly recoverExpired: RecoverExpired
  },
): Claim {
  const leaseInTurn = createRoundRobin(connection)
  const readerAt = createClaimedReader(connection)
  const tokens = createTokens(connection)
  const anyDue = connection.statement<{ found: 1 }>(ANY_DUE)
  const promoteDue = connection.statement(PROMOTE_DUE)
  const selectDue = connection.statement<JobRow>(SELECT_DUE)
  const oldestRecovered = connection.statement<JobRow>(OLDEST_RECOVERED)
  const deleteJob = connection.statement(DELETE_JOB)
  const leaseRow = connection.statement(LEASE)
  const leaseAndBegin = connection.statement(LEASE_AND_BEGIN)

  function choose(request: ClaimRequest, token: number, now: number): JobRow[] {
    const until = Math.ceil(now + request.leaseMs)
    const lease: LeaseJob = (job) => leaseRow().run(token, until, job.id)
    const begin: LeaseJob = (job) => leaseAndBegin().run(token, until, job.id)
    if ('lanes' in request) {
      return request.lanes.flatMap((demand) => leaseInTurn(demand, demand.begin === true ? begin : lease))
    }
    const chosen =
      'ids' in request
        ? [...new Set(request.ids)].flatMap((id) => selectDue().all(Number(id), now))
        : oldestRecovered().all(JSON.stringify(request.recovered))
    for (const job of chosen) lease(job)
    return chosen
  }

  /**
   * Jobs that can be delivered. A delivery of an endpoint that was disabled meanwhile is held, with a step of its lane.
   */
  function claimedJobs(
    request: ClaimRequest,
    rows: readonly JobRow[],
    token: number,
    now: number,
  ): ClaimedJob[] {
    const readClaimed = readerAt(now)
    const begun = beginningLanes(request)
    const jobs: ClaimedJob[] = []
    const disabled = new Set<string>()
    for (const row of rows) {
      const job = readClaimed(row, token, begun.has(row.lane))
      if (job === 'orphan') deleteJob().run(row.id)
      else if (job === 'held') {
        parts.deliveries.hold(subjectOf(row.id))
        disabled.add(row.lane)
      } else jobs.push(job)
    }
    for (const endpoint of disabled) parts.deliveries.holdWaiting(endpoint)
    return jobs
  }

  return function claim(request) {
    return connection.write(() => {
      const now = connection.now()
      parts.recoverExpired(now)
      if (anyDue().get(now) !== undefined) promoteDue().run(now)

      const token = tokens.last() + 1
      const rows = choose(request, token, now)
      if (rows.length > 0) tokens.use(token)

      const jobs = claimedJobs(request, rows, token, now)
      return { jobs, ...parts.dueLanes(now) }
    })
  }
}
