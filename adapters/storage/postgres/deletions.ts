import { OTHER_EVENT_IDS } from '../../../src/core/notification/event-payload.ts'
import type {
  BeginDeletion,
  DeletionRepository,
  PurgeAnswer,
} from '../../../src/core/ports/storage/deletions.ts'
import {
  beginDeletion,
  type OrganizationValue,
  organizationKind,
} from '../../../src/core/tenancy/organization.ts'
import { type RecordRow, toRecord } from '../rows/record.ts'
import type { Connection, Transaction } from './connection.ts'
import { KEPT_BY_ALL, removeOver } from './expire.ts'
import { followWrites } from './follow.ts'
import { recordTables, tableOf } from './record-tables.ts'
import {
  DELETE_JOBS,
  type DeliveryRow,
  deliveriesOf,
  LOCK_NOTIFICATIONS,
  noJob,
  removeNotifications,
  removeWithJobs,
} from './remove.ts'
import { RECORD_COLUMNS, replaceRow } from './write-records.ts'

const ORGANIZATIONS = tableOf(organizationKind)

/**
 * Waits for transactions that create records of the organization, and blocks new ones. FOR UPDATE also makes
 * `accept_in_1` fail in a transaction with an older snapshot of the row.
 */
const LOCK_ALONE = `SELECT ${RECORD_COLUMNS} FROM ${ORGANIZATIONS} WHERE id = $1 FOR UPDATE`

/** Serializes processes without blocking transactions that store records of the organization. */
const LOCK = `
  SELECT o.*, fence IS NOT NULL AS fenced,
    fence <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      -- Issued by another server: the data was restored from a dump.
      OR fence > pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS passed
  FROM ${ORGANIZATIONS} AS o LEFT JOIN carillon.fences AS f ON f.organization = o.id
  WHERE o.id = $1 FOR NO KEY UPDATE OF o`

const PROVE_BEGUN = `
  SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${ORGANIZATIONS} WHERE id = $1 AND list = 'open')`

/**
 * Accepts take no lock against a deletion, nor do settlements: they take their transaction number before they check for
 * one. The fence is a number that was issued once every new check finds the deletion. When all transactions below it
 * have ended, none can store anything for the organization.
 *
 * This transaction began after the deletion was committed, so a transaction with a higher number checks later and finds
 * the deletion. The end of a snapshot would be too low: it can miss running transactions.
 */
const SET_FENCE = `
  INSERT INTO carillon.fences (organization, fence) VALUES ($1, pg_current_xact_id()::text::bigint)
  ON CONFLICT DO NOTHING`

/** Not by an index on the organization, which would cost every job a write. */
const COUNT_JOBS = `
  SELECT count(*)::integer AS waiting
  FROM (SELECT 1 FROM carillon.jobs WHERE organization = $1 LIMIT 1000) AS j`

const SELECT_NOTIFICATIONS = `
  SELECT n.id, n.seq FROM carillon.notifications AS n
  WHERE n.organization = $1 ORDER BY n.created_at, n.seq LIMIT $2`

const SELECT_OVER = `
  SELECT n.id FROM carillon.notifications AS n
  WHERE n.organization = $1 AND ${noJob()}
  ORDER BY n.created_at, n.seq LIMIT $2`

/** Deliveries that remain concern events about endpoints. */
const SELECT_DELIVERIES = `
  SELECT d.seq, d.event_id, d.endpoint FROM carillon.webhook_endpoints AS e, LATERAL (
    SELECT d.seq, d.event_id, d.endpoint FROM carillon.deliveries AS d
    WHERE d.endpoint = e.id AND ($3 OR d.state <> 'pending') ORDER BY d.seq LIMIT $2) AS d
  WHERE e.organization = $1 LIMIT $2`

/** What endpoints of operators got of its events about no notification. */
const SELECT_OTHER_EVENTS = `
  SELECT d.seq, d.event_id, d.endpoint FROM carillon.deliveries AS d
  WHERE d.event_id >= '${OTHER_EVENT_IDS.from}' AND d.event_id < '${OTHER_EVENT_IDS.until}' AND d.organization = $1
    AND ($3 OR d.state <> 'pending') LIMIT $2`

/** Each removes a step of one kind. */
const REST = [
  `DELETE FROM carillon.stored WHERE id = ANY (ARRAY
    (SELECT id FROM carillon.stored WHERE organization = $1 LIMIT $2)) RETURNING 1`,
  `DELETE FROM carillon.webhook_endpoints WHERE id IN
    (SELECT id FROM carillon.webhook_endpoints WHERE organization = $1 LIMIT $2) RETURNING 1`,
  `DELETE FROM carillon.usage WHERE organization = $1 AND period IN
    (SELECT period FROM carillon.usage WHERE organization = $1 LIMIT $2) RETURNING 1`,
  `DELETE FROM carillon.usage_additions WHERE ctid = ANY (ARRAY
    (SELECT ctid FROM carillon.usage_additions WHERE organization = $1 LIMIT $2)) RETURNING 1`,
  `DELETE FROM carillon.unmatched_receipts WHERE id IN
    (SELECT id FROM carillon.unmatched_receipts WHERE organization = $1 LIMIT $2) RETURNING 1`,
]

const removeSomeOf = (table: string): string => `
  DELETE FROM ${table} WHERE seq IN
    (SELECT seq FROM ${table} WHERE organization = $1 ORDER BY seq LIMIT $2) RETURNING 1`

const DELETE = [
  'DELETE FROM carillon.fences WHERE organization = $1',
  `DELETE FROM ${ORGANIZATIONS} WHERE id = $1`,
]

const PROVE_DELETED = `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${ORGANIZATIONS} WHERE id = $1)`

type FencedRow = RecordRow & { readonly fenced: boolean; readonly passed: boolean | null }

export function createDeletions(connection: Connection): DeletionRepository {
  const { schema } = connection
  return {
    begin: (id, deletion) => connection.transaction((tx) => begin(tx, id, deletion)),
    purge: (id, most) => connection.transaction((tx) => purge(tx, schema, id, most)),
  }
}

async function begin(
  tx: Transaction,
  id: string,
  { force, kinds, also = [] }: BeginDeletion,
): Promise<number | null> {
  const [row] = await tx.rows<RecordRow>(LOCK_ALONE, [id])
  if (row === undefined) return null
  const organization = organizationOf(tx, row)
  const kept = organization.deleting === null && !force ? await waiting(tx, id) : 0
  if (kept > 0) return kept
  await replaceRow(tx, organizationKind, row, beginDeletion(organization, force, tx.now))
  for (const kind of kinds) await tx.rows(`DELETE FROM ${tableOf(kind)} WHERE organization = $1`, [id])
  await followWrites(tx, also)
  tx.prove(PROVE_BEGUN, [id])
  return 0
}

function organizationOf(tx: Transaction, row: RecordRow): OrganizationValue {
  return toRecord(organizationKind, row, tx.now).value
}

async function purge(tx: Transaction, schema: string, id: string, most: number): Promise<PurgeAnswer> {
  const [row] = await tx.rows<FencedRow>(LOCK, [id])
  const deleting = row === undefined ? null : organizationOf(tx, row).deleting
  if (row === undefined || deleting === null) return { notifications: 0, left: 'nothing' }
  if (!row.fenced) await tx.rows(SET_FENCE, [id])
  const force = deleting === 'force'
  const notifications = force ? await removeAny(tx, id, most) : await removeEnded(tx, id, most)
  if (notifications > 0) return { notifications, left: 'more' }
  const left = await removeOthers(tx, { schema, id, most, force, passed: row.passed === true })
  if (left === 'more' || !row.fenced) return { notifications: 0, left: 'more' }
  return { notifications: 0, left }
}

/** Removes data that belongs to no notification, and finally the organization. */
async function removeOthers(
  tx: Transaction,
  {
    schema,
    id,
    most,
    force,
    passed,
  }: {
    readonly schema: string
    readonly id: string
    readonly most: number
    readonly force: boolean
    readonly passed: boolean
  },
): Promise<PurgeAnswer['left']> {
  for (const statement of [SELECT_DELIVERIES, SELECT_OTHER_EVENTS]) {
    const deliveries = await tx.rows<DeliveryRow>(statement, [id, most, force])
    if (deliveries.length === 0) continue
    await removeWithJobs(tx, deliveries)
    return 'more'
  }
  if (!force && (await waiting(tx, id)) > 0) return 'jobs'
  // A running transaction may still store data.
  if (!passed) return 'transactions'
  await tx.rows(LOCK_ALONE, [id])
  const rest = [...REST, ...(await recordTables(tx, schema)).map(removeSomeOf)]
  for (const statement of rest) if ((await tx.rows(statement, [id, most])).length > 0) return 'more'
  for (const statement of DELETE) await tx.rows(statement, [id])
  tx.prove(PROVE_DELETED, [id])
  return 'nothing'
}

async function waiting(tx: Transaction, id: string): Promise<number> {
  const [row] = await tx.rows<{ waiting: number }>(COUNT_JOBS, [id])
  return row?.waiting ?? 0
}

async function removeEnded(tx: Transaction, id: string, most: number): Promise<number> {
  const rows = await tx.rows<{ id: string }>(SELECT_OVER, [id, most])
  const { over } = await removeOver(
    tx,
    rows.map((row) => row.id),
    Number.MAX_SAFE_INTEGER,
    KEPT_BY_ALL,
  )
  return over
}

async function removeAny(tx: Transaction, id: string, most: number): Promise<number> {
  const rows = await tx.rows<{ id: string; seq: number }>(SELECT_NOTIFICATIONS, [id, most])
  if (rows.length === 0) return 0
  const ids = rows.map((row) => row.id)
  await tx.rows(LOCK_NOTIFICATIONS, [ids])
  // Waits for settlements. The next statements see the rows that they stored.
  await tx.rows(DELETE_JOBS, [rows.map(({ seq }) => 2 * seq)])
  await removeWithJobs(tx, await deliveriesOf(tx, ids))
  await removeNotifications(tx, ids)
  return rows.length
}
