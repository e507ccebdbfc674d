import {
  decideEndpoint,
  type EndpointEvent,
  type EndpointHealth,
  endpointEvent,
} from '../../../src/core/delivery/endpoint-health.ts'
import type { Settlement } from '../../../src/core/ports/storage/settle.ts'
import type { Transaction } from './connection.ts'
import { type PublishedEvent, publish, publishedByEndpoint } from './deliveries.ts'

const COLUMNS = 'id, organization, url, status, failing_since, failing_published, event_sequence'

const SELECT = `SELECT ${COLUMNS} FROM carillon.webhook_endpoints WHERE id = ANY ($1::text[])`

/** Compatible with the lock of `publish`, which blocks removals only. */
const LOCK = `${SELECT} ORDER BY id FOR NO KEY UPDATE`

const UPDATE = `
  UPDATE carillon.webhook_endpoints AS e
  SET failing_since = h.failing_since, failing_published = h.failing_published, event_sequence = h.sequence
  FROM unnest($1::text[], $2::bigint[], $3::boolean[], $4::integer[]) AS h (id, failing_since, failing_published, sequence)
  WHERE e.id = h.id`

interface HealthRow {
  readonly id: string
  readonly organization: string
  readonly url: string
  readonly status: 'active' | 'disabled'
  readonly failing_since: number | null
  readonly failing_published: boolean
  readonly event_sequence: number
}

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>

/** Consequences of attempts for their endpoints. */
export interface DecidedEndpoints {
  readonly events: ReadonlyMap<EventSettlement, EndpointEvent>
  readonly disabled: ReadonlyMap<string, 'gone' | 'failing'>
  /** Publishes the changes to the organization's other endpoints. Call it once these are disabled. */
  publish(): Promise<void>
}

interface Attempted {
  readonly endpoint: string
  readonly settlement: EventSettlement
}

/** Decides the health of endpoints after attempts and stores it. Healthy endpoints are not locked. */
export async function decideEndpoints(
  tx: Transaction,
  attempts: readonly Attempted[],
): Promise<DecidedEndpoints> {
  const events = new Map<EventSettlement, EndpointEvent>()
  const disabled = new Map<string, 'gone' | 'failing'>()
  const unpublished: PublishedEvent[] = []
  const rows = new Map<string, HealthRow>()
  const health = new Map<string, EndpointHealth>()
  for (const row of await lockTroubled(tx, attempts)) {
    rows.set(row.id, row)
    if (row.status === 'active') {
      const {
        failing_since: failingSince,
        failing_published: failingPublished,
        event_sequence: sequence,
      } = row
      health.set(row.id, { failingSince, failingPublished, sequence })
    }
  }
  const before = new Map(health)
  for (const { endpoint: id, settlement } of attempts) {
    const [row, known] = [rows.get(id), health.get(id)]
    if (row === undefined || known === undefined || disabled.has(id)) continue
    const decision = decideEndpoint(known, settlement, tx.now, row.url)
    health.set(id, decision.health)
    if (decision.disable !== null) disabled.set(id, decision.disable)
    const event = endpointEvent({ id, organizationId: row.organization }, decision, tx.now)
    if (event === null) continue
    events.set(settlement, event)
    unpublished.push(publishedByEndpoint(event))
  }
  const changed = [...health].filter(([id, now]) => now !== before.get(id))
  if (changed.length > 0) {
    await tx.rows(UPDATE, [
      changed.map(([id]) => id),
      changed.map(([, { failingSince }]) => failingSince),
      changed.map(([, { failingPublished }]) => failingPublished),
      changed.map(([, { sequence }]) => sequence),
    ])
  }
  return { events, disabled, publish: () => publish(tx, unpublished) }
}

/** Endpoints with a failed attempt, now or before. */
async function lockTroubled(tx: Transaction, attempts: readonly Attempted[]): Promise<HealthRow[]> {
  const asked = attempts.filter(
    ({ settlement }) => settlement.attempt !== undefined || settlement.disable !== undefined,
  )
  if (asked.length === 0) return []
  const failing = new Set(
    asked
      .filter(({ settlement: { attempt, disable } }) => disable !== undefined || attempt?.succeeded !== true)
      .map(({ endpoint }) => endpoint),
  )
  const ids = [...new Set(asked.map(({ endpoint }) => endpoint))]
  const rows = await tx.rows<HealthRow>(SELECT, [ids])
  const troubled = rows.filter(({ id, failing_since }) => failing_since !== null || failing.has(id))
  return troubled.length === 0 ? [] : tx.rows<HealthRow>(LOCK, [troubled.map(({ id }) => id)])
}
