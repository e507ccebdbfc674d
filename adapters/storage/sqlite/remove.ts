import { LISTENER_IDS } from '../../../src/core/delivery/listeners.ts'
import { DELETE_ADDRESSES, DELETE_OPEN_RUN } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { Statement } from './statement.ts'

/** Range of ids of a notification's events: `evt_<digits>_…`. A backtick is the first character after an underscore. */
export const OWN_EVENTS = (digits: string): string =>
  `event_id >= 'evt_' || ${digits} || '_' AND event_id < 'evt_' || ${digits} || '\`'`

/** The endpoint of the delivery `d` is a listener. */
export const OF_LISTENER: string = `d.endpoint >= '${LISTENER_IDS.from}' AND d.endpoint < '${LISTENER_IDS.until}'`

/** The notification `n` has no job, neither its own nor a delivery's. @param counts which deliveries `d` count */
export const noJob = (
  counts = 'true',
): string => `NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * n.seq)
    AND NOT EXISTS (
      SELECT 1 FROM carillon_deliveries AS d CROSS JOIN carillon_jobs AS j ON j.id = 2 * d.id + 1
      WHERE ${OWN_EVENTS('substr(n.id, 7)')} AND ${counts})`

/** Walks the left side of the join; the index finds the right side. */
const SELECT_DELIVERIES = `
  SELECT d.id FROM json_each(?) AS n CROSS JOIN carillon_deliveries AS d ON ${OWN_EVENTS('n.value')}`

const OF_DELIVERIES = [
  'DELETE FROM carillon_jobs WHERE id IN (SELECT 2 * value + 1 FROM json_each(?))',
  'DELETE FROM carillon_delivery_attempts WHERE delivery IN (SELECT value FROM json_each(?))',
  'DELETE FROM carillon_deliveries WHERE id IN (SELECT value FROM json_each(?))',
]

const SELECT_METADATA = `
  SELECT seq, organization, created_at, metadata FROM carillon_notifications
  WHERE seq IN (SELECT value FROM json_each(?)) AND metadata IS NOT NULL`

/** By the whole key: there is no index by notification. */
const DELETE_METADATA = `
  DELETE FROM carillon_metadata
  WHERE organization = ? AND name = ? AND value = ? AND created_at = ? AND notification = ?`

/** Finds them by events. */
const DELETE_HANDOVERS = `
  DELETE FROM carillon_handovers WHERE (provider, message_id, notification) IN
    (SELECT coalesce(json_extract(fact, '$.provider'), ''), json_extract(fact, '$.providerMessageId'), notification
     FROM carillon_events WHERE notification IN (SELECT value FROM json_each(?))
       AND json_extract(fact, '$.type') = 'sent' AND json_extract(fact, '$.providerMessageId') IS NOT NULL)`

const DELETE_COPIES = 'DELETE FROM carillon_copies WHERE notification IN (SELECT value FROM json_each(?))'

const OF_NOTIFICATIONS = [
  DELETE_ADDRESSES,
  'DELETE FROM carillon_jobs WHERE id IN (SELECT 2 * value FROM json_each(?))',
  'DELETE FROM carillon_events WHERE notification IN (SELECT value FROM json_each(?))',
  'DELETE FROM carillon_named_uploads WHERE notification IN (SELECT value FROM json_each(?))',
  'DELETE FROM carillon_notifications WHERE seq IN (SELECT value FROM json_each(?))',
]

/** A notification's number and the digits of its id. */
export interface RemovedRow {
  readonly seq: number
  readonly digits: string
}

interface LabelledRow {
  readonly seq: number
  readonly organization: string
  readonly created_at: number
  readonly metadata: string
}

export interface Remove {
  /** The ids of the deliveries of notifications. */
  deliveriesOf(rows: readonly RemovedRow[]): number[]
  /** Removes notifications with all related rows. Returns the number of their deliveries. */
  notifications(rows: readonly RemovedRow[]): number
  deliveries(ids: readonly number[]): void
  /** Removes hand-overs, copies and the index of metadata, by the `seq` of their notifications. */
  identity(seqs: readonly number[]): void
}

/** Removes rows with all related rows, inside a transaction. */
export function createRemove(connection: Connection): Remove {
  const selectDeliveries = connection.statement<{ id: number }>(SELECT_DELIVERIES)
  const ofDeliveries = OF_DELIVERIES.map((sql) => connection.statement(sql))
  const selectMetadata = connection.statement<LabelledRow>(SELECT_METADATA)
  const deleteMetadata = connection.statement(DELETE_METADATA)
  const deleteOpenRun = connection.statement(DELETE_OPEN_RUN)
  const ofIdentity = [DELETE_HANDOVERS, DELETE_COPIES].map((sql) => connection.statement(sql))
  const ofNotifications = OF_NOTIFICATIONS.map((sql) => connection.statement(sql))

  function deliveriesOf(rows: readonly RemovedRow[]): number[] {
    return selectDeliveries()
      .all(JSON.stringify(rows.map(({ digits }) => digits)))
      .map(({ id }) => id)
  }

  function deliveries(ids: readonly number[]): void {
    run(ofDeliveries, ids)
  }

  function identity(seqs: readonly number[]): void {
    for (const row of selectMetadata().all(JSON.stringify(seqs))) {
      const pairs: Readonly<Record<string, string>> = JSON.parse(row.metadata)
      for (const [name, value] of Object.entries(pairs)) {
        deleteMetadata().run(row.organization, name, value, row.created_at, row.seq)
      }
    }
    run(ofIdentity, seqs)
  }

  return {
    deliveriesOf,
    deliveries,
    identity,
    notifications(rows) {
      if (rows.length === 0) return 0
      const found = deliveriesOf(rows)
      deliveries(found)
      const seqs = rows.map(({ seq }) => seq)
      identity(seqs)
      run(ofNotifications, seqs)
      deleteOpenRun().run()
      return found.length
    },
  }
}

function run(statements: readonly (() => Statement<never>)[], keys: readonly number[]): void {
  if (keys.length === 0) return
  const list = JSON.stringify(keys)
  for (const statement of statements) statement().run(list)
}
