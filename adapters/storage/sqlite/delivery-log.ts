import type { LoggedEventType } from '../../../src/core/delivery/endpoint-health.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import type {
  DeliveryAttempt,
  DeliveryFilter,
  EndpointDelivery,
  WebhookDelivery,
} from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { MAX_SCANNED } from '../scan.ts'
import { bySeq, seqBounds, toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'

/** A delivery without a job that neither failed nor is held was delivered. */
const STATE = `
  CASE WHEN state = 'pending' AND NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1)
    THEN 'delivered' ELSE state END`

/** State 1: the job waits for its time. */
const NEXT = '(SELECT due_at FROM carillon_jobs WHERE id = 2 * d.id + 1 AND state = 1)'

const COLUMNS = `id AS seq, event_id, event_type, payload, ${STATE} AS state, created_at, ${NEXT} AS next_at`

const LIST = `
  SELECT ${COLUMNS} FROM carillon_deliveries AS d
  WHERE endpoint = ? AND id < ? AND id > ? AND (? IS NULL OR ${STATE} = ?) ORDER BY id DESC LIMIT ? OFFSET ?`

/** Plus: by the index on events, not by that on endpoints. */
const LIST_OF_EVENTS = `
  SELECT ${COLUMNS}, endpoint FROM carillon_deliveries AS d
  WHERE event_id IN (SELECT value FROM json_each(?))
    AND +endpoint IN (SELECT id FROM carillon_webhook_endpoints WHERE organization = ?)
  ORDER BY id DESC LIMIT ?`

const SELECT_BEYOND = `
  SELECT id FROM carillon_deliveries WHERE endpoint = ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?`

const SELECT_ATTEMPTS = `
  SELECT at, attempt FROM carillon_delivery_attempts WHERE delivery = ? ORDER BY id`

interface DeliveryRow {
  readonly seq: number
  readonly event_id: string
  readonly event_type: LoggedEventType
  readonly payload: string
  readonly state: WebhookDelivery['state']
  readonly created_at: number
  readonly next_at: number | null
}

/** Reads the deliveries of one endpoint. */
export interface DeliveryLog {
  list(filter: DeliveryFilter, page: PageRequest): Page<WebhookDelivery>
  ofEvents(eventIds: readonly string[], owner: string, most: number): EndpointDelivery[]
}

export function createDeliveryLog(connection: Connection): DeliveryLog {
  const list = connection.statement<DeliveryRow>(LIST)
  const listOfEvents = connection.statement<DeliveryRow & { readonly endpoint: string }>(LIST_OF_EVENTS)
  const selectBeyond = connection.statement<{ id: number }>(SELECT_BEYOND)
  const selectAttempts = connection.statement<{ at: number; attempt: string }>(SELECT_ATTEMPTS)

  function toDelivery(row: DeliveryRow): WebhookDelivery {
    const attempts = selectAttempts()
      .all(row.seq)
      .map(({ at, attempt }) => ({ ...(JSON.parse(attempt) as DeliveryAttempt), at }))
    return {
      eventId: row.event_id,
      eventType: row.event_type,
      payload: row.payload,
      state: row.state,
      createdAt: row.created_at,
      nextAttemptAt: row.next_at,
      attempts,
    }
  }

  return {
    list({ endpointId, state = null }, page) {
      const [before, most, offset] = seqBounds(page)
      const beyond =
        state === null ? undefined : selectBeyond().get(endpointId, before, MAX_SCANNED + offset)?.id
      const rows = list().all(endpointId, before, beyond ?? 0, state, state, most, offset)
      return toPage(rows, page, bySeq, toDelivery, beyond === undefined ? undefined : [beyond])
    },
    ofEvents(eventIds, owner, most) {
      return listOfEvents()
        .all(JSON.stringify(eventIds), owner, most)
        .map((row) => ({ ...toDelivery(row), endpointId: row.endpoint }))
    },
  }
}
