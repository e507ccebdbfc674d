import { APART, wholeContent } from '../../../src/core/notification/stored-content.ts'
import type {
  ClaimAnswer,
  ClaimedJob,
  ClaimRequest,
  SharedSlots,
} from '../../../src/core/ports/storage/claim.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import type { LaneTurns } from '../pick-fairly.ts'
import { toLabels } from '../rows/labels.ts'
import { type EndpointRow, toEndpoint } from '../rows/webhook-endpoint.ts'
import type { Connection } from './connection.ts'
import { holdJobs, holdWaiting, removeJobs } from './deliveries.ts'
import { unpacked } from './labels.ts'
import { jobNumber } from './leases.ts'
import type { RecoverExpired } from './recover.ts'

const CLAIM = `
  SELECT * FROM carillon.claim_1(
    $1::bigint, $2::bigint, $3::text[], $4::integer[], $5::integer[], $6::text[], $7::text[],
    $8::jsonb[], $9::bigint[], $10::text[], $11::text, $12::boolean)`

const SELECT_ATTACHMENTS = `
  SELECT id, attachments FROM carillon.notifications WHERE id = ANY ($1::text[]) AND attachments IS NOT NULL`

/** Blocks changes of an endpoint's status until its deliveries are held. */
const LOCK_ENDPOINTS = `
  SELECT id, status FROM carillon.webhook_endpoints WHERE id = ANY ($1::text[]) ORDER BY id FOR SHARE`

const DELETE_JOBS = 'DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[]) AND token = $2 AND state = 2'

const MAX_LANES = 1_000

interface Summary {
  readonly now: number
  /** Shared by all jobs of one claim. */
  readonly token: number
  readonly turns: readonly (LaneTurns & { readonly lane: string })[]
  readonly lanes: readonly string[]
  readonly recoveredLanes: readonly string[]
  readonly endpoints: readonly EndpointRow[]
  readonly next: number | null
  /** True: expired leases must be recovered first. */
  readonly expired?: true
}

interface ClaimedRow {
  readonly summary: string | null
  readonly jobId: number
  readonly jobLane: string
  readonly jobOrganization: string
  readonly dueAt: number
  /** A {@link History} as JSON. Null: no attempt has started. */
  readonly historyText: string | null
  readonly jobSubject: string
  /** The channel, or the event type. Null: the subject no longer exists. */
  readonly kindName: string | null
  readonly recipientAddress: string
  /** The content, or the event's payload. Null: the subject no longer exists. */
  readonly contentText: string | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly traceText: string | null
  /** See {@link unpacked}. */
  readonly labelsText: string | null
}

type History = readonly [attempts: number, outages: number, earlierAttempts: number, recovered: boolean]

const NO_ATTEMPT: History = [0, 0, 0, false]

export type Claim = (request: ClaimRequest) => Promise<ClaimAnswer>

/**
 * Leases due jobs, one statement per claim: see migrations/0001-initial/claim.ts.
 *
 * The round-robin state lives in this process; processes that share a database each have their own.
 */
export function createClaim(
  connection: Connection,
  recoverExpired: RecoverExpired,
  release: Storage['release'],
): Claim {
  const turns = new Map<string, LaneTurns>()
  /** Last lane of a partial answer. The next claim starts behind it. */
  let cursor = ''

  async function ask(
    request: ClaimRequest,
    recover: boolean,
  ): Promise<{ readonly summary: Summary; readonly rows: readonly ClaimedRow[] }> {
    const demands = 'lanes' in request ? request.lanes : []
    const ids = 'ids' in request ? [...new Set(request.ids)].map(jobNumber) : null
    const own = demands.map(({ lane }) => turns.get(lane))
    const [first, ...rows] = await connection.rows<ClaimedRow>(CLAIM, [
      connection.time(),
      Math.ceil(request.leaseMs),
      demands.map(({ lane }) => lane),
      demands.map(({ free }) => free),
      own.map((lane) => lane?.turn ?? 0),
      own.map((lane) => lane?.last[0] ?? ''),
      own.map((lane) => lane?.last[1] ?? ''),
      demands.map(({ shared }) => (shared === undefined ? null : sharedText(shared))),
      ids === null ? null : ids.filter((id) => id !== null),
      'recovered' in request ? request.recovered : null,
      cursor,
      recover,
    ])
    return { summary: JSON.parse(first?.summary ?? '{}') as Summary, rows }
  }

  /**
   * Handles rows that cannot be delivered. Jobs without a stored subject (removed by hand) and deliveries of removed
   * endpoints are deleted. Deliveries of a disabled endpoint are held, together with a step of its lane. If the
   * endpoint was enabled meanwhile, its jobs are released.
   */
  async function removeOrHold(rows: readonly ClaimedRow[], token: number): Promise<void> {
    if (rows.length === 0) return
    const orphans = rows.filter(isOrphan)
    const lanes = [...new Set(rows.filter((row) => !isOrphan(row)).map(({ jobLane }) => jobLane))]
    const active = await connection.transaction(async (tx) => {
      if (orphans.length > 0) await tx.rows(DELETE_JOBS, [orphans.map(({ jobId }) => jobId), token])
      if (lanes.length === 0) return new Set<string>()
      const locked = await tx.rows<{ id: string; status: string }>(LOCK_ENDPOINTS, [lanes])
      const active = new Set(locked.flatMap(({ id, status }) => (status === 'active' ? [id] : [])))
      const disabled = locked.flatMap(({ id }) => (active.has(id) ? [] : [id]))
      const gone = lanes.filter((lane) => !active.has(lane) && !disabled.includes(lane))
      const jobsOf = (some: readonly string[]): number[] =>
        rows.flatMap((row) => (!isOrphan(row) && some.includes(row.jobLane) ? [row.jobId] : []))
      if (disabled.length > 0) await holdJobs(tx, jobsOf(disabled), token)
      if (gone.length > 0) await removeJobs(tx, jobsOf(gone), token)
      for (const lane of disabled) await holdWaiting(tx, lane)
      return active
    })
    const back = rows.filter((row) => !isOrphan(row) && active.has(row.jobLane))
    await release(back.map(({ jobId }) => ({ jobId: String(jobId), token })))
  }

  /** Returns jobs that were recovered while they waited and never reached a provider: they must run alone. */
  async function leaveRecovered(request: ClaimRequest, answer: ClaimAnswer): Promise<ClaimAnswer> {
    const back = answer.jobs.filter(({ recovered }) => recovered)
    if (back.length === 0 || 'recovered' in request) return answer
    await release(back)
    return {
      ...answer,
      jobs: answer.jobs.filter(({ recovered }) => !recovered),
      recoveredLanes: [...new Set([...answer.recoveredLanes, ...back.map(({ lane }) => lane)])],
    }
  }

  /** Attachments by notification, for the few mails that have any. */
  async function attachmentsOf(rows: readonly ClaimedRow[]): Promise<ReadonlyMap<string, string>> {
    const ids = rows.flatMap((row) =>
      isNotification(row) && row.contentText?.includes(APART) === true ? [row.jobSubject] : [],
    )
    if (ids.length === 0) return new Map()
    const found = await connection.rows<{ id: string; attachments: string }>(SELECT_ATTACHMENTS, [ids])
    return new Map(found.map(({ id, attachments }) => [id, attachments]))
  }

  return async function claim(request) {
    let { summary, rows } = await ask(request, true)
    if (summary.expired === true) {
      await recoverExpired()
      ;({ summary, rows } = await ask(request, false))
    }
    const { now, token, lanes, recoveredLanes, next } = summary
    if ('lanes' in request) for (const { lane } of request.lanes) turns.delete(lane)
    for (const { lane, turn, last } of summary.turns) turns.set(lane, { turn, last })
    cursor = lanes.length === MAX_LANES ? (lanes.at(-1) ?? '') : ''

    const endpoints = new Map(
      summary.endpoints
        .filter(({ status }) => status !== 'disabled')
        .map((row) => [row.id, toEndpoint(row, now)]),
    )
    const attachments = await attachmentsOf(rows)
    const jobs = rows.map((row) => toJob(row, { token, attachments, endpoints, now }))
    await removeOrHold(
      rows.filter((_row, index) => jobs[index] === undefined),
      token,
    )
    const answer = {
      jobs: jobs.filter((job) => job !== undefined),
      lanes,
      recoveredLanes,
      nextDueInMs: next === null ? null : Math.max(0, next - now),
    }
    return leaveRecovered(request, answer)
  }
}

function sharedText({ empty, used, exempt }: SharedSlots): string {
  return JSON.stringify({ empty, used: Object.fromEntries(used), exempt })
}

const isNotification = ({ jobId }: ClaimedRow): boolean => jobId % 2 === 0

const isOrphan = ({ kindName, contentText }: ClaimedRow): boolean => kindName === null || contentText === null

/** Shared by the rows of one claim. */
interface Common {
  readonly token: number
  readonly now: number
  /** Attachments by notification, for the few mails that have any. */
  readonly attachments: ReadonlyMap<string, string>
  /** Active endpoints. */
  readonly endpoints: ReadonlyMap<string, WebhookEndpoint>
}

/** Undefined: the endpoint takes no deliveries, or the subject is not stored. */
function toJob(row: ClaimedRow, { token, now, attachments, endpoints }: Common): ClaimedJob | undefined {
  const { historyText, jobSubject, kindName, contentText, traceText: trace } = row
  if (kindName === null || contentText === null) return undefined
  const [attempts, outages, earlierAttempts, recovered] =
    historyText === null ? NO_ATTEMPT : (JSON.parse(historyText) as History)
  const about = {
    jobId: String(row.jobId),
    token,
    lane: row.jobLane,
    organizationId: row.jobOrganization,
    attempts,
    outages,
    earlierAttempts,
    recovered,
    waitedMs: Math.max(0, now - row.dueAt),
  }
  if (isNotification(row)) {
    const { recipientAddress: to, createdAt, expiresAt } = row
    const channel = kindName as string
    const expiresInMs = expiresAt === null ? null : expiresAt - now
    const content = wholeContent({ content: contentText, attachments: attachments.get(jobSubject) ?? null })
    const labels = toLabels(unpacked(row.labelsText))
    const notification = { id: jobSubject, channel, to, content, createdAt, expiresInMs, trace, ...labels }
    return { ...about, kind: 'notification', notification }
  }
  const endpoint = endpoints.get(row.jobLane)
  if (endpoint === undefined) return undefined
  const delivery = { eventId: jobSubject, eventType: kindName, payload: contentText, endpoint, trace }
  return { ...about, kind: 'event', delivery }
}
