import type {
  ClaimedDelivery,
  ClaimedJob,
  ClaimedNotification,
} from '../../../src/core/ports/storage/claim.ts'
import type { WebhookEndpoint } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { type ClaimedRow, toClaimedNotification } from '../rows/claimed.ts'
import { type EndpointRow, toEndpoint } from '../rows/webhook-endpoint.ts'
import type { Connection } from './connection.ts'
import { isEventJob, subjectOf } from './jobs.ts'
import type { JobRow } from './round-robin.ts'

const SELECT_NOTIFICATION = `
  SELECT id, channel, recipient, content, created_at, expires_at, trace, person, category, group_id, metadata, attachments
  FROM carillon_notifications WHERE seq = ?`

const SELECT_DELIVERY = 'SELECT event_id, event_type, payload, trace FROM carillon_deliveries WHERE id = ?'

const SELECT_ENDPOINT = 'SELECT * FROM carillon_webhook_endpoints WHERE id = ?'

interface DeliveryRow {
  readonly event_id: string
  readonly event_type: string
  readonly payload: string
  readonly trace: string | null
}

/**
 * Reads the data of a leased job. `orphan`: its subject was removed by hand. `held`: its endpoint takes no deliveries.
 */
export type ReadClaimed = (job: JobRow, token: number, begun: boolean) => ClaimedJob | 'orphan' | 'held'

/** @returns a reader for one claim, which reads each endpoint once */
export function createClaimedReader(connection: Connection): (now: number) => ReadClaimed {
  const selectNotification = connection.statement<ClaimedRow>(SELECT_NOTIFICATION)
  const selectDelivery = connection.statement<DeliveryRow>(SELECT_DELIVERY)
  const selectEndpoint = connection.statement<EndpointRow>(SELECT_ENDPOINT)

  function notificationOf(job: JobRow, now: number): ClaimedNotification | undefined {
    const row = selectNotification().get(subjectOf(job.id))
    return row === undefined ? undefined : toClaimedNotification(row, now)
  }

  function deliveryOf(
    job: JobRow,
    endpoints: Map<string, WebhookEndpoint | undefined>,
    now: number,
  ): ClaimedDelivery | 'orphan' | 'held' {
    if (!endpoints.has(job.lane)) {
      const found = selectEndpoint().get(job.lane)
      endpoints.set(job.lane, found === undefined ? undefined : toEndpoint(found, now))
    }
    const endpoint = endpoints.get(job.lane)
    const row = selectDelivery().get(subjectOf(job.id))
    if (row === undefined) return 'orphan'
    if (endpoint === undefined || endpoint.status === 'disabled') return 'held'
    const { event_id: eventId, event_type: eventType, payload, trace } = row
    return { eventId, eventType, payload, endpoint, trace }
  }

  return function readerAt(now) {
    const endpoints = new Map<string, WebhookEndpoint | undefined>()
    return function readClaimed(job, token, begun) {
      const about = {
        jobId: String(job.id),
        token,
        lane: job.lane,
        organizationId: job.organization,
        attempts: job.attempts,
        outages: job.outages,
        earlierAttempts: job.earlier_attempts,
        recovered: job.recovered === 1,
        waitedMs: Math.max(0, now - job.due_at),
      }
      if (isEventJob(job.id)) {
        const delivery = deliveryOf(job, endpoints, now)
        if (typeof delivery === 'string') return delivery
        return { ...about, kind: 'event', delivery, ...(begun ? { begun } : {}) }
      }
      const notification = notificationOf(job, now)
      return notification === undefined ? 'orphan' : { ...about, kind: 'notification', notification }
    }
  }
}
