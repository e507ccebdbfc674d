import type { ChannelName } from '../../../src/domain/channel.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../../src/ports/storage/claim.ts'
import type { WebhookEndpoint } from '../../../src/ports/storage/webhook-endpoints.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import { isEventJob, subjectOf } from './jobs.ts'
import type { Outlook } from './outlook.ts'
import type { RecoverExpired } from './recover.ts'
import { type EndpointRow, toEndpoint } from './rows.ts'
import { createTurns, JOB_COLUMNS, type JobRow, type Lease } from './turns.ts'

const NEXT_TOKEN = 'UPDATE carillon_tokens SET token = token + 1 WHERE only = 1 RETURNING token'

/** Bounded: a great many jobs that come due at once are taken over in steps. */
const PROMOTE_DUE = `
  UPDATE carillon_jobs SET state = 0
  WHERE id IN (SELECT id FROM carillon_jobs WHERE state = 1 AND due_at <= ? ORDER BY due_at LIMIT 1000)`

const LEASE_ONE = `
  UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ?
  WHERE id = ? AND (state = 0 OR state = 1 AND due_at <= ?)
  RETURNING ${JOB_COLUMNS}`

const OLDEST_RECOVERED = `
  SELECT id FROM carillon_jobs WHERE state = 3 AND lane IN (SELECT value FROM json_each(?))
  ORDER BY id LIMIT 1`

const LEASE_RECOVERED = `
  UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ? WHERE id = ? RETURNING ${JOB_COLUMNS}`

const SELECT_NOTIFICATION = `
  SELECT id, channel, recipient, content, created_at, expires_at FROM carillon_notifications WHERE seq = ?`

const SELECT_DELIVERY = 'SELECT event_id, event_type, payload FROM carillon_deliveries WHERE id = ?'

const SELECT_ENDPOINT = 'SELECT * FROM carillon_webhook_endpoints WHERE id = ?'

interface ClaimedNotificationRow {
  readonly id: string
  readonly channel: ChannelName
  readonly recipient: string
  readonly content: string
  readonly created_at: number
  readonly expires_at: number | null
}

interface ClaimedDeliveryRow {
  readonly event_id: string
  readonly event_type: string
  readonly payload: string
}

type Claim = (request: ClaimRequest) => ClaimAnswer

/** Leases due jobs, each claim in one commit. */
export function createClaim(
  connection: Connection,
  parts: {
    readonly deliveries: Deliveries
    readonly outlook: Outlook
    readonly recoverExpired: RecoverExpired
  },
): Claim {
  const leaseTurns = createTurns(connection)
  const nextToken = connection.statement<{ token: number }>(NEXT_TOKEN)
  const promoteDue = connection.statement(PROMOTE_DUE)
  const leaseOne = connection.statement<JobRow>(LEASE_ONE)
  const oldestRecovered = connection.statement<{ id: number }>(OLDEST_RECOVERED)
  const leaseRecovered = connection.statement<JobRow>(LEASE_RECOVERED)
  const selectNotification = connection.statement<ClaimedNotificationRow>(SELECT_NOTIFICATION)
  const selectDelivery = connection.statement<ClaimedDeliveryRow>(SELECT_DELIVERY)
  const selectEndpoint = connection.statement<EndpointRow>(SELECT_ENDPOINT)

  function choose(request: ClaimRequest, lease: Lease, now: number): JobRow[] {
    if ('lanes' in request) return request.lanes.flatMap((demand) => leaseTurns(demand, lease))
    if ('ids' in request) {
      return request.ids.flatMap((id) => leaseOne().all(lease.token, lease.until, Number(id), now))
    }
    const oldest = oldestRecovered().get(JSON.stringify(request.recovered))
    return oldest === undefined ? [] : leaseRecovered().all(lease.token, lease.until, oldest.id)
  }

  /** The endpoints as they are now, each read once. */
  function endpointReader(): (id: string) => WebhookEndpoint | undefined {
    const known = new Map<string, WebhookEndpoint | undefined>()
    return function endpointOf(id) {
      if (!known.has(id)) {
        const row = selectEndpoint().get(id)
        known.set(id, row === undefined ? undefined : toEndpoint(row))
      }
      return known.get(id)
    }
  }

  function claimed(
    job: JobRow,
    token: number,
    now: number,
    endpointOf: (id: string) => WebhookEndpoint | undefined,
  ): ClaimedJob | undefined {
    const about = {
      jobId: String(job.id),
      token,
      lane: job.lane,
      organizationId: job.organization,
      attempts: job.attempts,
      recovered: job.recovered === 1,
      waitedMs: Math.max(0, now - job.due_at),
    }
    const subject = subjectOf(job.id)
    if (!isEventJob(job.id)) {
      const row = selectNotification().get(subject)
      if (row === undefined) return undefined
      const notification = {
        id: row.id,
        channel: row.channel,
        to: row.recipient,
        content: JSON.parse(row.content),
        createdAt: row.created_at,
        expiresInMs: row.expires_at === null ? null : row.expires_at - now,
      }
      return { ...about, kind: 'notification', notification }
    }
    const row = selectDelivery().get(subject)
    const endpoint = endpointOf(job.lane)
    if (row === undefined || endpoint === undefined || endpoint.status === 'disabled') return undefined
    const delivery = { eventId: row.event_id, eventType: row.event_type, payload: row.payload, endpoint }
    return { ...about, kind: 'event', delivery }
  }

  return function claim(request) {
    return connection.write(() => {
      const now = connection.now()
      parts.recoverExpired(now)
      promoteDue().run(now)
      const token = nextToken().get()?.token ?? 0
      const lease = { token, until: Math.ceil(now + request.leaseMs) }
      const endpointOf = endpointReader()
      const jobs: ClaimedJob[] = []
      for (const row of choose(request, lease, now)) {
        const job = claimed(row, token, now, endpointOf)
        // Its endpoint was disabled while another attempt was under way.
        if (job === undefined) parts.deliveries.hold(subjectOf(row.id))
        else jobs.push(job)
      }
      return { jobs, ...parts.outlook(now) }
    })
  }
}
