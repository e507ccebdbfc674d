import type {
  WebhookEndpoint,
  WebhookEndpointRepository,
} from '../../../src/ports/storage/webhook-endpoints.ts'
import type { Connection } from './connection.ts'
import { dataError, isDataError } from './errors.ts'
import { createRequireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'
import { type EndpointRow, toEndpoint } from './rows.ts'

const INSERT = `
  INSERT INTO carillon_webhook_endpoints (id, organization, url, events, success_status, secrets, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

const SELECT = 'SELECT * FROM carillon_webhook_endpoints WHERE id = ?'

const LIST = `
  SELECT * FROM carillon_webhook_endpoints
  WHERE organization = ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?`

const DELETE = 'DELETE FROM carillon_webhook_endpoints WHERE id = ?'

const DELETE_JOBS = `
  DELETE FROM carillon_jobs
  WHERE id IN (SELECT 2 * id + 1 FROM carillon_deliveries WHERE endpoint = ?)`

const DELETE_ATTEMPTS = `
  DELETE FROM carillon_delivery_attempts
  WHERE delivery IN (SELECT id FROM carillon_deliveries WHERE endpoint = ?)`

const DELETE_DELIVERIES = 'DELETE FROM carillon_deliveries WHERE endpoint = ?'

export function createWebhookEndpoints(connection: Connection): WebhookEndpointRepository {
  const requireOrganization = createRequireOrganization(connection)
  const insert = connection.statement(INSERT)
  const select = connection.statement<EndpointRow>(SELECT)
  const list = connection.statement<EndpointRow>(LIST)
  const remove = connection.statement(DELETE)
  const dependents = [DELETE_JOBS, DELETE_ATTEMPTS, DELETE_DELIVERIES].map((sql) => connection.statement(sql))

  function create(
    endpoint: Omit<WebhookEndpoint, 'createdAt' | 'status' | 'disabledReason'>,
  ): WebhookEndpoint {
    const { id, organizationId, url, events, successStatus, secrets } = endpoint
    requireOrganization(organizationId)
    const createdAt = connection.now()
    const [chosen, hidden] = [JSON.stringify(events), JSON.stringify(secrets)]
    insert().run(id, organizationId, url, chosen, successStatus, hidden, createdAt)
    return { ...endpoint, status: 'active', disabledReason: null, createdAt }
  }

  return {
    async create(endpoint) {
      try {
        return connection.write(() => create(endpoint))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async get(id) {
      const row = connection.read(() => select().get(id))
      return row === undefined ? null : toEndpoint(row)
    },
    async list(organizationId, page) {
      return connection.read(() =>
        pageBySeq(
          page,
          (before, limit, offset) => list().all(organizationId, before, limit, offset),
          toEndpoint,
        ),
      )
    },
    async delete(id) {
      return connection.write(() => {
        for (const statement of dependents) statement().run(id)
        return Number(remove().run(id).changes) === 1
      })
    },
  }
}
