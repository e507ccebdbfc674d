import type { NotificationStatus } from '../../../src/core/notification/notification.ts'
import type { FactState } from '../../../src/core/notification/record-facts.ts'
import { type FactColumns, type FactRow, toFactState } from '../rows/facts.ts'
import type { Runner } from './connection.ts'
import { LABEL_COLUMNS } from './labels.ts'

/** Notification columns that facts need. Never the content. */
export const FACT_COLUMNS: string = `n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace,
  ${LABEL_COLUMNS}`

/**
 * Locks for adding facts, taken in this order and by id. A transaction that holds the job (settlement, recovery) needs
 * no other lock, because the job's row excludes all others.
 */
const LOCK_BY_IDS = `
  SELECT ${FACT_COLUMNS} FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[]) ORDER BY n.id FOR NO KEY UPDATE OF n`

const LOCK_JOBS = `
  SELECT j.id FROM carillon.jobs AS j WHERE j.id = ANY ($1::bigint[]) ORDER BY j.id FOR NO KEY UPDATE OF j`

const SELECT_BY_IDS = `SELECT ${FACT_COLUMNS} FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[])`

const SELECT_STATES = `
  SELECT s.notification, s.status, s.sequence, s.published, s.fold, s.provider, s.provider_message_id, s.error
  FROM carillon.states AS s WHERE s.notification = ANY ($1::text[])`

/** The stored state of a notification. */
export interface StateRow extends FactColumns {
  readonly status: NotificationStatus
  readonly fold: string
}

/** A locked notification with its state. */
export interface Standing {
  readonly row: FactRow
  /** False: no state is stored before the first fact after the accept. */
  readonly stored: boolean
  state: FactState
}

/** Locks notifications and reads their states, by id. Unknown ids are missing. */
export async function lockNotifications(tx: Runner, ids: readonly string[]): Promise<Map<string, Standing>> {
  if (ids.length === 0) return new Map()
  const locked = await tx.rows<FactRow>(LOCK_BY_IDS, [ids])
  await tx.rows(LOCK_JOBS, [locked.map(({ seq }) => 2 * seq)])
  return readStandings(tx, locked)
}

/** Reads the states of notifications whose jobs the transaction holds, by id. */
export async function standingsOfHeld(tx: Runner, ids: readonly string[]): Promise<Map<string, Standing>> {
  if (ids.length === 0) return new Map()
  return readStandings(tx, await tx.rows<FactRow>(SELECT_BY_IDS, [ids]))
}

async function readStandings(tx: Runner, rows: readonly FactRow[]): Promise<Map<string, Standing>> {
  const ids = rows.map(({ id }) => id)
  const states = await tx.rows<StateRow & { readonly notification: string }>(SELECT_STATES, [ids])
  const found = new Map(states.map((state) => [state.notification, state]))
  return new Map(rows.map((row) => [row.id, toStanding(row, found.get(row.id) ?? null)]))
}

export function toStanding(row: FactRow, state: StateRow | null): Standing {
  return { row, stored: state !== null, state: toFactState(row, state) }
}
