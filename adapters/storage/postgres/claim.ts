import type { ChannelName } from '../../../src/domain/channel.ts'
import { APART, wholeContent } from '../../../src/domain/stored-content.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../../src/ports/storage/claim.ts'
import { type EndpointRow, toEndpoint } from '../rows/webhook-endpoint.ts'
import type { Connection } from './connection.ts'
import { holdJobs, holdWaiting } from './deliveries.ts'
import { jobNumber } from './leases.ts'
import type { RecoverExpired } from './recover.ts'

const CLAIM = `
  SELECT * FROM carillon.claim_2(
    $1::bigint, $2::bigint, $3::text[], $4::integer[], $5::integer[], $6::text[], $7::text[],
    $8::bigint[], $9::text[], $10::text, $11::boolean)`

const SELECT_ATTACHMENTS = `
  SELECT id, attachments FROM carillon.notifications WHERE id = ANY ($1::text[]) AND attachments IS NOT NULL`

const MAX_LANES = 1_000

/** Whose turn it is in a lane: the organizations that had the last one, normal and high, and that of the priorities. */
interface LaneTurns {
  readonly turn: number
  readonly last: readonly [normal: string, high: string]
}

interface Summary {
  readonly now: number
  readonly turns: readonly (LaneTurns & { readonly lane: string })[]
  readonly lanes: readonly string[]
  readonly recoveredLanes: readonly string[]
  readonly next: number | null
  /** Leases have run out: they are to be taken back first. */
  readonly expired?: true
}

interface ClaimedRow {
  readonly summary: string | null
  readonly jobId: number
  readonly jobToken: number
  readonly jobLane: string
  readonly jobOrganization: string
  readonly dueAt: number
  readonly jobAttempts: number
  readonly jobOutages: number
  readonly earlierAttempts: number
  readonly isRecovered: boolean
  readonly jobSubject: string
  readonly channelName: ChannelName
  readonly recipientAddress: string
  readonly contentText: string | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly eventType: string | null
  readonly payloadText: string | null
  readonly endpointText: string | null
  readonly traceText: string | null
}

export type Claim = (request: ClaimRequest) => Promise<ClaimAnswer>

/**
 * Leases due jobs, each claim in one statement: see migrations/0002-claim.ts and 0007-claim-2.ts.
 *
 * Whose turn it is lives in this process: several processes that share a database each take turns on their own.
 */
export function createClaim(connection: Connection, recoverExpired: RecoverExpired): Claim {
  const turns = new Map<string, LaneTurns>()
  /** Where the last answer ended, when not all lanes fitted into it: the next one begins there. */
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
      ids === null ? null : ids.filter((id) => id !== null),
      'recovered' in request ? request.recovered : null,
      cursor,
      recover,
    ])
    return { summary: JSON.parse(first?.summary ?? '{}') as Summary, rows }
  }

  /** A delivery whose endpoint was disabled meanwhile is held, and some of its lane with it. */
  async function hold(rows: readonly ClaimedRow[]): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    const ids = rows.map(({ jobId }) => jobId)
    await connection.transaction(async (tx) => {
      await holdJobs(tx, ids, first.jobToken)
      for (const lane of new Set(rows.map(({ jobLane }) => jobLane))) await holdWaiting(tx, lane)
    })
  }

  /** Of the few mails that have some, by notification. */
  async function attachmentsOf(rows: readonly ClaimedRow[]): Promise<ReadonlyMap<string, string>> {
    const ids = rows.flatMap(({ contentText, jobSubject }) =>
      contentText?.includes(APART) === true ? [jobSubject] : [],
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
    const { now, lanes, recoveredLanes, next } = summary
    if ('lanes' in request) for (const { lane } of request.lanes) turns.delete(lane)
    for (const { lane, turn, last } of summary.turns) turns.set(lane, { turn, last })
    cursor = lanes.length === MAX_LANES ? (lanes.at(-1) ?? '') : ''

    const endpoints = new Map<string, EndpointRow>()
    const attachments = await attachmentsOf(rows)
    const jobs = rows.map((row) => toJob(row, attachments, endpoints, now))
    await hold(rows.filter((_row, index) => jobs[index] === undefined))
    return {
      jobs: jobs.filter((job) => job !== undefined),
      lanes,
      recoveredLanes,
      nextDueInMs: next === null ? null : Math.max(0, next - now),
    }
  }
}

/** Undefined when its endpoint no longer takes deliveries. */
function toJob(
  row: ClaimedRow,
  attachments: ReadonlyMap<string, string>,
  endpoints: Map<string, EndpointRow>,
  now: number,
): ClaimedJob | undefined {
  const about = {
    jobId: String(row.jobId),
    token: row.jobToken,
    lane: row.jobLane,
    organizationId: row.jobOrganization,
    attempts: row.jobAttempts,
    outages: row.jobOutages,
    earlierAttempts: row.earlierAttempts,
    recovered: row.isRecovered,
    waitedMs: Math.max(0, now - row.dueAt),
  }
  if (row.contentText !== null) {
    const { jobSubject: id, channelName: channel, recipientAddress: to, createdAt, expiresAt } = row
    const expiresInMs = expiresAt === null ? null : expiresAt - now
    const content = wholeContent({ content: row.contentText, attachments: attachments.get(id) ?? null })
    const notification = { id, channel, to, content, createdAt, expiresInMs, trace: row.traceText }
    return { ...about, kind: 'notification', notification }
  }
  const { jobSubject: eventId, eventType, payloadText: payload, endpointText, traceText: trace } = row
  if (eventType === null || payload === null || endpointText === null) return undefined
  const stored = endpoints.get(row.jobLane) ?? (JSON.parse(endpointText) as EndpointRow)
  endpoints.set(row.jobLane, stored)
  if (stored.status === 'disabled') return undefined
  return {
    ...about,
    kind: 'event',
    delivery: { eventId, eventType, payload, endpoint: toEndpoint(stored, now), trace },
  }
}
