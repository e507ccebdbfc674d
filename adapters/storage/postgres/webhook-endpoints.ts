import { testEventIds } from '../../../src/core/delivery/endpoint-health.ts'
import type { FollowingWrite } from '../../../src/core/ports/storage/records.ts'
import type {
  EndpointChange,
  NewWebhookEndpoint,
  SecretRotation,
  WebhookEndpoint,
  WebhookEndpointRepository,
} from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION, unknownOrganization } from '../../../src/core/tenancy/organization.ts'
import { type EndpointRow, rotatedSecrets, toEndpoint } from '../rows/webhook-endpoint.ts'
import { bySeq, seqBounds, toPage } from '../to-page.ts'
import { type Connection, NOW, type Transaction } from './connection.ts'
import { disableEndpoint, recordTest } from './deliveries.ts'
import { listDeliveries, listDeliveriesOf } from './delivery-log.ts'
import { dataError, isDataError } from './errors.ts'
import { followWrites } from './follow.ts'
import { redeliver } from './redeliver.ts'
import { type DeliveryRow, removeDeliveries } from './remove.ts'

/** Serializes new endpoints of one organization, and nothing else. Those of operators lock the default one's row. */
const LOCK_ORGANIZATION = `
  SELECT 1 FROM carillon.r_organizations WHERE id = $1 AND list = 'open' FOR NO KEY UPDATE`

const INSERT = `
  INSERT INTO carillon.webhook_endpoints (created_at, id, organization, url, events, success_status, secrets)
  SELECT ${NOW}, $2, $3, $4, $5, $6, $7
  WHERE (SELECT count(*) FROM carillon.webhook_endpoints WHERE organization = $3) < $8::bigint RETURNING created_at`

const SELECT = `SELECT *, ${NOW} AS now FROM carillon.webhook_endpoints WHERE id = $2`

/** Serializes changes of one endpoint. */
const LOCK = 'SELECT * FROM carillon.webhook_endpoints WHERE id = $1 FOR UPDATE'

const LIST = `
  SELECT *, ${NOW} AS now FROM carillon.webhook_endpoints
  WHERE organization = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4 OFFSET $5`

const UPDATE = `
  UPDATE carillon.webhook_endpoints SET url = $2, events = $3, success_status = $4 WHERE id = $1`

const ENABLE = `
  UPDATE carillon.webhook_endpoints SET status = 'active', disabled_reason = NULL WHERE id = $1`

/** Failures at an earlier address, or before the owner enabled the endpoint, do not count. */
const RESET_HEALTH = `
  UPDATE carillon.webhook_endpoints SET failing_since = NULL, failing_published = false WHERE id = $1`

const SET_SECRETS = `
  UPDATE carillon.webhook_endpoints SET secrets = $2, secret_ends = $3 WHERE id = $1`

/** If another change followed, this one is no longer visible and its outcome is reported as unknown. */
const PROVE_CREATED = 'SELECT 1 FROM carillon.webhook_endpoints WHERE id = $1'

const PROVE_UPDATED = `
  SELECT 1 FROM carillon.webhook_endpoints
  WHERE id = $1 AND url = $2 AND events = $3 AND success_status = $4
    AND status = coalesce($5, status)`

const PROVE_DELETED = 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM carillon.webhook_endpoints WHERE id = $1)'

const PROVE_ROTATED = 'SELECT 1 FROM carillon.webhook_endpoints WHERE id = $1 AND secrets = $2'

const PROVE_RECORDED = 'SELECT 1 FROM carillon.deliveries WHERE event_id = $1 AND endpoint = $2'

const SELECT_OLDER_TESTS = `
  SELECT event_id, endpoint, seq FROM carillon.deliveries
  WHERE event_id >= $1 AND event_id < $2 ORDER BY seq DESC OFFSET $3::bigint`

const ANY_DELIVERY = 'SELECT 1 FROM carillon.deliveries WHERE endpoint = $1 ORDER BY seq LIMIT 1'

/**
 * Waits for settlements of these jobs, so that the following removal includes their writes. Reads deliveries in index
 * order: otherwise a plan may gather the whole log first.
 */
const DELETE_JOBS = `
  WITH chosen AS MATERIALIZED (
    SELECT event_id, endpoint, seq FROM carillon.deliveries WHERE endpoint = $1 ORDER BY seq LIMIT $2::bigint
  ), no_jobs AS (
    DELETE FROM carillon.jobs WHERE id IN (SELECT 2 * seq + 1 FROM chosen)
  )
  SELECT event_id, endpoint, seq FROM chosen`

const DELETE = 'DELETE FROM carillon.webhook_endpoints WHERE id = $1'

type TimedRow = EndpointRow & { readonly now: number }

export function createWebhookEndpoints(connection: Connection): WebhookEndpointRepository {
  async function create(
    tx: Transaction,
    endpoint: NewWebhookEndpoint,
    most: number,
  ): Promise<WebhookEndpoint | null> {
    const { id, organizationId, url, events, successStatus, secrets } = endpoint
    const locked = organizationId === ALL_ORGANIZATIONS ? DEFAULT_ORGANIZATION : organizationId
    const [organization] = await tx.rows(LOCK_ORGANIZATION, [locked])
    if (organization === undefined) throw unknownOrganization(organizationId)
    const [chosen, hidden] = [JSON.stringify(events), JSON.stringify(secrets)]
    const values = [connection.time(), id, organizationId, url, chosen, successStatus, hidden, most]
    const [row] = await tx.rows<{ created_at: number }>(INSERT, values)
    if (row === undefined) return null
    tx.prove(PROVE_CREATED, [id])
    const { created_at: createdAt } = row
    return { ...endpoint, status: 'active', disabledReason: null, failingSince: null, createdAt }
  }

  async function read(runner: Pick<Transaction, 'rows'>, id: string): Promise<WebhookEndpoint | null> {
    const [row] = await runner.rows<TimedRow>(SELECT, [connection.time(), id])
    return row === undefined ? null : toEndpoint(row, row.now)
  }

  async function update(
    tx: Transaction,
    id: string,
    change: EndpointChange,
  ): Promise<WebhookEndpoint | null> {
    const [row] = await tx.rows<EndpointRow>(LOCK, [id])
    if (row === undefined) return null
    const before = toEndpoint(row, tx.now)
    const { url = before.url, events = before.events, successStatus = before.successStatus, status } = change
    await tx.rows(UPDATE, [id, url, JSON.stringify(events), successStatus])
    if (status === 'active' || url !== before.url) await tx.rows(RESET_HEALTH, [id])
    if (status === 'active') await tx.rows(ENABLE, [id])
    else if (status === 'disabled' && before.status === 'active') await disableEndpoint(tx, id, 'manual')
    tx.prove(PROVE_UPDATED, [id, url, JSON.stringify(events), successStatus, status ?? null])
    return read(tx, id)
  }

  async function rotateSecret(
    tx: Transaction,
    id: string,
    rotation: SecretRotation,
  ): Promise<WebhookEndpoint | null> {
    const [row] = await tx.rows<EndpointRow>(LOCK, [id])
    if (row === undefined) return null
    // Read after the lock, so that a call that waited sees the current time.
    const [timed] = await tx.rows<TimedRow>(SELECT, [connection.time(), id])
    const { secrets, ends } = rotatedSecrets(row, rotation, timed?.now ?? tx.now)
    await tx.rows(SET_SECRETS, [id, secrets, ends])
    tx.prove(PROVE_ROTATED, [id, secrets])
    return read(tx, id)
  }

  async function following(
    tx: Transaction,
    changed: Promise<WebhookEndpoint | null>,
    also: readonly FollowingWrite[] = [],
  ): Promise<WebhookEndpoint | null> {
    const endpoint = await changed
    if (endpoint !== null) await followWrites(tx, also)
    return endpoint
  }

  /** Requires the endpoint's lock. */
  function whileActive<Answer>(
    id: string,
    work: (tx: Transaction) => Promise<Answer>,
  ): Promise<Answer | 'disabled' | 'unknown'> {
    return connection.transaction(async (tx) => {
      const [row] = await tx.rows<EndpointRow>(LOCK, [id])
      const status = row?.status ?? 'unknown'
      return status === 'active' ? work(tx) : status
    })
  }

  return {
    async create(endpoint, most, also) {
      try {
        return await connection.transaction((tx) => following(tx, create(tx, endpoint, most), also))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    get: (id) => read(connection, id),
    async list(organizationId, page) {
      const values = [connection.time(), organizationId, ...seqBounds(page)]
      return toPage(await connection.rows<TimedRow>(LIST, values), page, bySeq, (row) =>
        toEndpoint(row, row.now),
      )
    },
    update: (id, change, also) => connection.transaction((tx) => following(tx, update(tx, id, change), also)),
    rotateSecret: (id, rotation, also) =>
      connection.transaction((tx) => following(tx, rotateSecret(tx, id, rotation), also)),
    deliveries: (filter, page) => listDeliveries(connection, filter, page),
    deliveriesOf: (eventIds, owner, most) => listDeliveriesOf(connection, eventIds, owner, most),
    recordTest(id, test, most) {
      return connection.transaction(async (tx) => {
        const [row] = await tx.rows<EndpointRow>(LOCK, [id])
        if (row === undefined) return false
        await recordTest(tx, id, test)
        const { from, until } = testEventIds(id)
        await removeDeliveries(tx, await tx.rows<DeliveryRow>(SELECT_OLDER_TESTS, [from, until, most]))
        tx.prove(PROVE_RECORDED, [test.eventId, id])
        return true
      })
    },
    redeliver: (id, which) => whileActive(id, (tx) => redeliver(tx, id, which)),
    delete(id, most, also = []) {
      return connection.transaction(async (tx) => {
        const [row] = await tx.rows<EndpointRow>(LOCK, [id])
        if (row === undefined) return 'unknown'
        const some = await tx.rows<DeliveryRow>(DELETE_JOBS, [id, most])
        await removeDeliveries(tx, some)
        if (some.length === most && (await tx.rows(ANY_DELIVERY, [id])).length > 0) return 'more'
        await tx.rows(DELETE, [id])
        await followWrites(tx, also)
        tx.prove(PROVE_DELETED, [id])
        return 'deleted'
      })
    },
  }
}
