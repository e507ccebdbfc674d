import { OTHER_EVENT_IDS } from '../../../src/core/notification/event-payload.ts'
import type {
  BeginDeletion,
  DeletionRepository,
  PurgeAnswer,
} from '../../../src/core/ports/storage/deletions.ts'
import { beginDeletion, organizationKind } from '../../../src/core/tenancy/organization.ts'
import type { Connection } from './connection.ts'
import { tableOf } from './record-tables.ts'
import type { SqliteRecords } from './records.ts'
import { createRemove, noJob, type RemovedRow } from './remove.ts'

/** Not by an index on the organization, which would cost every job a write. */
const COUNT_JOBS = `
  SELECT count(*) AS waiting FROM (SELECT 1 FROM carillon_jobs WHERE organization = ? LIMIT 1000)`

/** Without force: only those without a job. */
const SELECT_NOTIFICATIONS = `
  SELECT n.seq, substr(n.id, 7) AS digits FROM carillon_notifications AS n
  WHERE n.organization = ? AND (? OR ${noJob()})
  ORDER BY n.created_at, n.seq LIMIT ?`

/** Deliveries that remain concern events about endpoints. */
const SELECT_DELIVERIES = `
  SELECT d.id FROM carillon_webhook_endpoints AS e CROSS JOIN carillon_deliveries AS d ON d.endpoint = e.id
  WHERE e.organization = ? AND (? OR NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1)) LIMIT ?`

/** What endpoints of operators got of its events about no notification. */
const SELECT_OTHER_EVENTS = `
  SELECT d.id FROM carillon_deliveries AS d
  WHERE event_id >= '${OTHER_EVENT_IDS.from}' AND event_id < '${OTHER_EVENT_IDS.until}' AND organization = ?
    AND (? OR NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1)) LIMIT ?`

/** Older runtimes cannot bind numbered parameters by position. */
const GIVEN = 'WITH given (id, most) AS (SELECT ?, ?)'

/** Each removes a step of one kind. */
const REST = [
  `DELETE FROM carillon_stored WHERE organization IN (SELECT id FROM given LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_webhook_endpoints WHERE seq IN
    (SELECT seq FROM carillon_webhook_endpoints WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_usage WHERE organization = (SELECT id FROM given) AND period IN
    (SELECT period FROM carillon_usage WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
  `DELETE FROM carillon_unmatched_receipts WHERE id IN
    (SELECT id FROM carillon_unmatched_receipts WHERE organization = (SELECT id FROM given) LIMIT (SELECT most FROM given))`,
]

export function createDeletions(connection: Connection, records: SqliteRecords): DeletionRepository {
  const countJobs = connection.statement<{ waiting: number }>(COUNT_JOBS)
  const selectNotifications = connection.statement<RemovedRow>(SELECT_NOTIFICATIONS)
  const selectDeliveries = [SELECT_DELIVERIES, SELECT_OTHER_EVENTS].map((sql) =>
    connection.statement<{ id: number }>(sql),
  )
  const rest = REST.map((sql) => connection.statement(`${GIVEN} ${sql}`))
  const remove = createRemove(connection)

  const waiting = (id: string): number => countJobs().get(id)?.waiting ?? 0

  function removeRecords(id: string, tables: readonly string[], most: number): boolean {
    return tables.some((table) => records.tables.statements(table).removeSome().changes(id, most) > 0)
  }

  function begin(id: string, { force, kinds, also = [] }: BeginDeletion): number | null {
    const organization = records.find(organizationKind, id)
    if (organization === null) return null
    const { value, revision } = organization
    const kept = value.deleting === null && !force ? waiting(id) : 0
    if (kept > 0) return kept
    for (const kind of kinds) removeRecords(id, [tableOf(kind)], -1)
    const deleting = beginDeletion(value, force, connection.now())
    records.apply({ kind: organizationKind, do: 'replace', id, revision, value: deleting })
    records.follow(also)
    return 0
  }

  function purge(id: string, most: number): PurgeAnswer {
    const deleting = records.find(organizationKind, id)?.value.deleting ?? null
    if (deleting === null) return { notifications: 0, left: 'nothing' }
    const force = deleting === 'force' ? 1 : 0
    const rows = selectNotifications().all(id, force, most)
    remove.notifications(rows)
    if (rows.length > 0) return { notifications: rows.length, left: 'more' }
    return { notifications: 0, left: removeOthers(id, force, most) }
  }

  /** Removes data that belongs to no notification, and finally the organization. */
  function removeOthers(id: string, force: 0 | 1, most: number): PurgeAnswer['left'] {
    for (const select of selectDeliveries) {
      const deliveries = select().all(id, force, most)
      remove.deliveries(deliveries.map((delivery) => delivery.id))
      if (deliveries.length > 0) return 'more'
    }
    if (force === 0 && waiting(id) > 0) return 'jobs'
    if (removeRecords(id, records.tables.names(), most)) return 'more'
    for (const statement of rest) if (statement().changes(id, most) > 0) return 'more'
    records.apply({ kind: organizationKind, do: 'remove', id })
    return 'nothing'
  }

  return {
    async begin(id, deletion) {
      return connection.durably(() => begin(id, deletion))
    },
    async purge(id, most) {
      return connection.durably(() => purge(id, most))
    },
  }
}
