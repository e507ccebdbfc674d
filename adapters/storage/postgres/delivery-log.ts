import type { LoggedEventType } from '../../../src/core/delivery/endpoint-health.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import type {
  DeliveryAttempt,
  DeliveryFilter,
  EndpointDelivery,
  LoggedAttempt,
  WebhookDelivery,
} from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { MAX_SCANNED } from '../scan.ts'
import { bySeq, seqBounds, toPage } from '../to-page.ts'
import type { Connection, Runner } from './connection.ts'
import { inOrder } from './in-order.ts'

/** Of the deliveries `d`. State 1: the job waits for its time. */
const COLUMNS = `seq, event_id, endpoint, event_type, payload, state, created_at,
  (SELECT j.due_at FROM carillon.jobs AS j WHERE j.id = 2 * d.seq + 1 AND j.state = 1) AS next_at`

const LIST = `
  SELECT ${COLUMNS} FROM carillon.deliveries AS d
  WHERE endpoint = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3 OFFSET $4`

const LIST_STATE = `
  SELECT ${COLUMNS} FROM carillon.deliveries AS d
  WHERE endpoint = $1 AND seq < $2 AND seq > $5 AND state = $6 ORDER BY seq DESC LIMIT $3 OFFSET $4`

const LIST_OF_EVENTS = `
  SELECT ${COLUMNS} FROM carillon.deliveries AS d
  WHERE event_id = ANY ($1::text[])
    AND endpoint IN (SELECT id FROM carillon.webhook_endpoints WHERE organization = $2)
  ORDER BY seq DESC LIMIT $3`

const SELECT_BEYOND = `
  SELECT seq FROM carillon.deliveries WHERE endpoint = $1 AND seq < $2 ORDER BY seq DESC LIMIT 1 OFFSET $3`

const SELECT_ATTEMPTS = `
  SELECT a.event_id, a.endpoint, a.at, a.attempt FROM carillon.delivery_attempts AS a
  WHERE a.event_id = ANY ($1::text[]) AND a.endpoint = ANY ($2::text[]) ORDER BY a.number`

interface DeliveryRow {
  readonly seq: number
  readonly event_id: string
  readonly endpoint: string
  readonly event_type: LoggedEventType
  readonly payload: string
  readonly state: WebhookDelivery['state']
  readonly created_at: number
  readonly next_at: number | null
}

interface AttemptRow {
  readonly event_id: string
  readonly endpoint: string
  readonly at: number
  readonly attempt: string
}

/** Lists the deliveries of one endpoint. */
export async function listDeliveries(
  connection: Connection,
  { endpointId, state }: DeliveryFilter,
  page: PageRequest,
): Promise<Page<WebhookDelivery>> {
  const bounds = seqBounds(page)
  if (state === undefined) {
    const rows = await connection.rows<DeliveryRow>(LIST, [endpointId, ...bounds])
    return shown(connection, rows, page)
  }
  return inOrder(connection, async (tx) => {
    const asked = [endpointId, bounds[0], MAX_SCANNED + page.offset]
    const [beyond] = await tx.rows<{ seq: number }>(SELECT_BEYOND, asked)
    const values = [endpointId, ...bounds, beyond?.seq ?? 0, state]
    return shown(tx, await tx.rows<DeliveryRow>(LIST_STATE, values), page, beyond && bySeq(beyond))
  })
}

async function shown(
  runner: Runner,
  rows: readonly DeliveryRow[],
  page: PageRequest,
  beyond?: readonly number[],
): Promise<Page<WebhookDelivery>> {
  const found = toPage(rows, page, bySeq, (row) => row, beyond)
  return { ...found, items: await withAttempts(runner, found.items) }
}

/** The deliveries of events to the endpoints of an owner. */
export async function listDeliveriesOf(
  runner: Runner,
  eventIds: readonly string[],
  owner: string,
  most: number,
): Promise<EndpointDelivery[]> {
  const rows = await runner.rows<DeliveryRow>(LIST_OF_EVENTS, [eventIds, owner, most])
  const deliveries = await withAttempts(runner, rows)
  return deliveries.map((delivery, index) => ({ ...delivery, endpointId: rows[index]?.endpoint ?? '' }))
}

async function withAttempts(runner: Runner, rows: readonly DeliveryRow[]): Promise<WebhookDelivery[]> {
  if (rows.length === 0) return []
  const attempts = await runner.rows<AttemptRow>(SELECT_ATTEMPTS, [
    rows.map(({ event_id }) => event_id),
    [...new Set(rows.map(({ endpoint }) => endpoint))],
  ])
  const byDelivery = new Map<string, LoggedAttempt[]>()
  for (const { event_id, endpoint, at, attempt } of attempts) {
    const key = `${endpoint} ${event_id}`
    const logged = { ...(JSON.parse(attempt) as DeliveryAttempt), at }
    byDelivery.set(key, [...(byDelivery.get(key) ?? []), logged])
  }
  return rows.map((row) => ({
    eventId: row.event_id,
    eventType: row.event_type,
    payload: row.payload,
    state: row.state,
    createdAt: row.created_at,
    nextAttemptAt: row.next_at,
    attempts: byDelivery.get(`${row.endpoint} ${row.event_id}`) ?? [],
  }))
}
