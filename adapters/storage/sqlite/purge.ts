import type { OrganizationRepository, PurgeAnswer } from '../../../src/ports/storage/organizations.ts'
import type { OrganizationRow } from '../rows/organization.ts'
import type { Connection } from './connection.ts'
import { createRemove, NO_JOB, type RemovedRow } from './remove.ts'

const SELECT = 'SELECT deleting FROM carillon_organizations WHERE id = ?'

const BEGIN = 'UPDATE carillon_organizations SET deleting = ? WHERE id = ?'

const DELETE_KEYS = 'DELETE FROM carillon_api_keys WHERE organization = ?'

/** Not by an index on the organization, which would cost every job a write. */
const COUNT_JOBS = `
  SELECT count(*) AS waiting FROM (SELECT 1 FROM carillon_jobs WHERE organization = ? LIMIT 1000)`

/** Without force: only those without a job. */
const SELECT_NOTIFICATIONS = `
  SELECT n.seq, substr(n.id, 7) AS digits FROM carillon_notifications AS n
  WHERE n.organization = ? AND (? OR ${NO_JOB})
  ORDER BY n.created_at, n.seq LIMIT ?`

/** Deliveries that remain concern events about endpoints. */
const SELECT_DELIVERIES = `
  SELECT d.id FROM carillon_webhook_endpoints AS e CROSS JOIN carillon_deliveries AS d ON d.endpoint = e.id
  WHERE e.organization = ? AND (? OR NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1)) LIMIT ?`

/** Older runtimes cannot bind numbered parameters by position. */
const GIVEN = 'WITH given (id, most) AS (SELECT ?, ?)'

/** In this order. Each removes a step of one kind. */
const REST = [
  `DELETE FROM carillon_api_keys WHERE seq IN
    (SELECT seq FROM carillon_api_keys WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_template_versions WHERE (template, version) IN
    (SELECT v.template, v.version FROM carillon_templates AS t
     CROSS JOIN carillon_template_versions AS v ON v.template = t.seq
     WHERE t.organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_templates WHERE seq IN
    (SELECT seq FROM carillon_templates WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_webhook_endpoints WHERE seq IN
    (SELECT seq FROM carillon_webhook_endpoints WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_suppressions WHERE organization = (SELECT id FROM given) AND (channel, address) IN
    (SELECT channel, address FROM carillon_suppressions WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_usage WHERE organization = (SELECT id FROM given) AND period IN
    (SELECT period FROM carillon_usage WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_unmatched_receipts WHERE id IN
    (SELECT id FROM carillon_unmatched_receipts WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
]

const DELETE = 'DELETE FROM carillon_organizations WHERE id = ?'

export function createPurge(connection: Connection): Pick<OrganizationRepository, 'beginDeletion' | 'purge'> {
  const select = connection.statement<Pick<OrganizationRow, 'deleting'>>(SELECT)
  const begin = connection.statement(BEGIN)
  const deleteKeys = connection.statement(DELETE_KEYS)
  const countJobs = connection.statement<{ waiting: number }>(COUNT_JOBS)
  const selectNotifications = connection.statement<RemovedRow>(SELECT_NOTIFICATIONS)
  const selectDeliveries = connection.statement<{ id: number }>(SELECT_DELIVERIES)
  const rest = REST.map((sql) => connection.statement(`${GIVEN} ${sql}`))
  const removeRow = connection.statement(DELETE)
  const remove = createRemove(connection)

  const waiting = (id: string): number => countJobs().get(id)?.waiting ?? 0

  function beginDeletion(id: string, force: boolean): number | null {
    const row = select().get(id)
    if (row === undefined) return null
    const kept = row.deleting === null && !force ? waiting(id) : 0
    if (kept > 0) return kept
    begin().run(force ? 'force' : (row.deleting ?? 'plain'), id)
    deleteKeys().run(id)
    return 0
  }

  function purge(id: string, most: number): PurgeAnswer {
    const deleting = select().get(id)?.deleting ?? null
    if (deleting === null) return { notifications: 0, left: 'nothing' }
    const force = deleting === 'force' ? 1 : 0
    const rows = selectNotifications().all(id, force, most)
    remove.notifications(rows)
    if (rows.length > 0) return { notifications: rows.length, left: 'more' }
    return { notifications: 0, left: removeOthers(id, force, most) }
  }

  /** Removes data that belongs to no notification, and finally the organization. */
  function removeOthers(id: string, force: 0 | 1, most: number): PurgeAnswer['left'] {
    const deliveries = selectDeliveries().all(id, force, most)
    remove.deliveries(deliveries.map((delivery) => delivery.id))
    if (deliveries.length > 0) return 'more'
    if (force === 0 && waiting(id) > 0) return 'jobs'
    for (const statement of rest) if (statement().changes(id, most) > 0) return 'more'
    removeRow().run(id)
    return 'nothing'
  }

  return {
    async beginDeletion(id, force) {
      return connection.durably(() => beginDeletion(id, force))
    },
    async purge(id, most) {
      return connection.durably(() => purge(id, most))
    },
  }
}
