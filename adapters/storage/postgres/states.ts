import type { ChannelName } from '../../../src/domain/channel.ts'
import type { NotificationStatus } from '../../../src/domain/notification.ts'
import type { FactState } from '../../../src/domain/record-facts.ts'
import { initialFold } from '../../../src/domain/status.ts'
import { acceptedStatus } from '../stored-rows.ts'
import type { Runner } from './connection.ts'

/** The columns of a notification that facts need: never its content. */
export const FACT_COLUMNS =
  'n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace'

/** Everybody who adds facts holds this lock, in the order of ids; the fold is read after it, by another statement. */
export const LOCK = 'FOR NO KEY UPDATE OF n'

const LOCK_BY_IDS = `
  SELECT ${FACT_COLUMNS} FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[]) ORDER BY n.id ${LOCK}`

const SELECT_STATES = 'SELECT * FROM carillon.states WHERE notification = ANY ($1::text[])'

/** A notification that is locked. */
export interface LockedRow {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly channel: ChannelName
  readonly recipient: string
  readonly created_at: number
  readonly send_at: number | null
  readonly trace: string | null
}

interface StateRow {
  readonly notification: string
  readonly status: NotificationStatus
  readonly sequence: number
  readonly announced: number
  readonly fold: string
  readonly provider: string | null
  readonly provider_message_id: string | null
  readonly error: string | null
}

/** A locked notification and where it stands. */
export interface Standing {
  readonly row: LockedRow
  state: FactState
}

/** Locks notifications, and reads where they stand. By id; unknown ones are not among them. */
export async function lockNotifications(tx: Runner, ids: readonly string[]): Promise<Map<string, Standing>> {
  if (ids.length === 0) return new Map()
  return readStates(tx, await tx.rows<LockedRow>(LOCK_BY_IDS, [ids]))
}

/** Reads where notifications stand that are locked already. */
export async function readStates(tx: Runner, locked: readonly LockedRow[]): Promise<Map<string, Standing>> {
  const states = await tx.rows<StateRow>(SELECT_STATES, [locked.map(({ id }) => id)])
  const found = new Map(states.map((state) => [state.notification, state]))
  return new Map(locked.map((row) => [row.id, { row, state: toState(row, found.get(row.id)) }]))
}

function toState(row: LockedRow, state: StateRow | undefined): FactState {
  if (state === undefined) {
    const status = acceptedStatus(row)
    const nothing = { provider: null, providerMessageId: null, error: null }
    return { status, fold: initialFold(status), sequence: 1, announced: 0, ...nothing }
  }
  return {
    status: state.status,
    fold: JSON.parse(state.fold),
    sequence: state.sequence,
    announced: state.announced,
    provider: state.provider,
    providerMessageId: state.provider_message_id,
    error: state.error === null ? null : JSON.parse(state.error),
  }
}
