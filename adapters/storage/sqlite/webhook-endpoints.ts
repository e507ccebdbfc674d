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
import { type EndpointRow, rotatedSecrets, toEndpoint } from '../rows/webhook-endpoint.ts'
import { bySeq, seqBounds, toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'
import type { Deliveries } from './deliveries.ts'
import { createDeliveryLog } from './delivery-log.ts'
import { dataError, isDataError } from './errors.ts'
import type { SqliteRecords } from './records.ts'
import { createRedeliver } from './redeliver.ts'
import { createRemove } from './remove.ts'

const INSERT = `
  INSERT INTO carillon_webhook_endpoints (id, organization, url, events, success_status, secrets, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

const SELECT_COUNT = 'SELECT count(*) AS count FROM carillon_webhook_endpoints WHERE organization = ?'

const SELECT = 'SELECT * FROM carillon_webhook_endpoints WHERE id = ?'

const LIST = `
  SELECT * FROM carillon_webhook_endpoints
  WHERE organization = ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?`

const UPDATE = 'UPDATE carillon_webhook_endpoints SET url = ?, events = ?, success_status = ? WHERE id = ?'

const ENABLE = `
  UPDATE carillon_webhook_endpoints SET status = 'active', disabled_reason = NULL WHERE id = ?`

/** Failures at an earlier address, or before the owner enabled the endpoint, do not count. */
const RESET_HEALTH = `
  UPDATE carillon_webhook_endpoints SET failing_since = NULL, failing_published = 0 WHERE id = ?`

const SET_SECRETS = 'UPDATE carillon_webhook_endpoints SET secrets = ?, secret_ends = ? WHERE id = ?'

const DELETE = 'DELETE FROM carillon_webhook_endpoints WHERE id = ?'

const SELECT_DELIVERIES = 'SELECT id FROM carillon_deliveries WHERE endpoint = ? LIMIT ?'

const SELECT_OLDER_TESTS = `
  SELECT id FROM carillon_deliveries WHERE event_id >= ? AND event_id < ? ORDER BY id DESC LIMIT -1 OFFSET ?`

export function createWebhookEndpoints(
  connection: Connection,
  deliveries: Deliveries,
  records: SqliteRecords,
): WebhookEndpointRepository {
  const insert = connection.statement(INSERT)
  const counted = connection.statement<{ readonly count: number }>(SELECT_COUNT)
  const select = connection.statement<EndpointRow>(SELECT)
  const list = connection.statement<EndpointRow>(LIST)
  const updateRow = connection.statement(UPDATE)
  const enable = connection.statement(ENABLE)
  const forgive = connection.statement(RESET_HEALTH)
  const setSecrets = connection.statement(SET_SECRETS)
  const removeRow = connection.statement(DELETE)
  const remove = createRemove(connection)
  const log = createDeliveryLog(connection)
  const redeliver = createRedeliver(connection)
  const olderTests = connection.statement<{ id: number }>(SELECT_OLDER_TESTS)
  const someDeliveries = connection.statement<{ id: number }>(SELECT_DELIVERIES)

  function create(endpoint: NewWebhookEndpoint, most: number): WebhookEndpoint | null {
    const { id, organizationId, url, events, successStatus, secrets } = endpoint
    if (organizationId !== ALL_ORGANIZATIONS) records.requireOpen(organizationId)
    if ((counted().get(organizationId)?.count ?? 0) >= most) return null
    const createdAt = connection.now()
    const [chosen, hidden] = [JSON.stringify(events), JSON.stringify(secrets)]
    insert().run(id, organizationId, url, chosen, successStatus, hidden, createdAt)
    return { ...endpoint, status: 'active', disabledReason: null, failingSince: null, createdAt }
  }

  function read(id: string): WebhookEndpoint | null {
    const row = select().get(id)
    return row === undefined ? null : toEndpoint(row, connection.now())
  }

  function update(id: string, change: EndpointChange): WebhookEndpoint | null {
    const before = read(id)
    if (before === null) return null
    const { url = before.url, events = before.events, successStatus = before.successStatus, status } = change
    updateRow().run(url, JSON.stringify(events), successStatus, id)
    if (status === 'active' || url !== before.url) forgive().run(id)
    if (status === 'active') enable().run(id)
    else if (status === 'disabled' && before.status === 'active') deliveries.disable(id, 'manual')
    return read(id)
  }

  function rotateSecret(id: string, rotation: SecretRotation): WebhookEndpoint | null {
    const row = select().get(id)
    if (row === undefined) return null
    const { secrets, ends } = rotatedSecrets(row, rotation, connection.now())
    setSecrets().run(secrets, ends, id)
    return read(id)
  }

  function following(
    endpoint: WebhookEndpoint | null,
    also: readonly FollowingWrite[] = [],
  ): WebhookEndpoint | null {
    if (endpoint !== null) records.follow(also)
    return endpoint
  }

  return {
    async create(endpoint, most, also) {
      try {
        return await connection.durably(() => following(create(endpoint, most), also))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async get(id) {
      return connection.read(() => read(id))
    },
    async list(organizationId, page) {
      return connection.read(() => {
        const now = connection.now()
        const rows = list().all(organizationId, ...seqBounds(page))
        return toPage(rows, page, bySeq, (row) => toEndpoint(row, now))
      })
    },
    async update(id, change, also) {
      return connection.durably(() => following(update(id, change), also))
    },
    async rotateSecret(id, rotation, also) {
      return connection.durably(() => following(rotateSecret(id, rotation), also))
    },
    async deliveries(filter, page) {
      return connection.read(() => log.list(filter, page))
    },
    async deliveriesOf(eventIds, owner, most) {
      return connection.read(() => log.ofEvents(eventIds, owner, most))
    },
    async recordTest(id, test, most) {
      return connection.durably(() => {
        if (select().get(id) === undefined) return false
        deliveries.recordTest(id, test, connection.now())
        const { from, until } = testEventIds(id)
        const older = olderTests().all(from, until, most)
        remove.deliveries(older.map((delivery) => delivery.id))
        return true
      })
    },
    async redeliver(id, which) {
      return connection.durably(() => {
        const status = select().get(id)?.status ?? 'unknown'
        return status === 'active' ? redeliver(id, which) : status
      })
    },
    async delete(id, most, also = []) {
      return connection.durably(() => {
        const some = someDeliveries().all(id, most + 1)
        remove.deliveries(some.slice(0, most).map((delivery) => delivery.id))
        if (some.length > most) return 'more'
        if (removeRow().changes(id) !== 1) return 'unknown'
        records.follow(also)
        return 'deleted'
      })
    },
  }
}
