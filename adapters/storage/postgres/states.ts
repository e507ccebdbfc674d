import type { ChannelName } from '../../../src/domain/channel.ts'
import type { NotificationStatus } from '../../../src/domain/notification.ts'
import type { FactState } from '../../../src/domain/record-facts.ts'
import { initialFold } from '../../../src/domain/status.ts'
import { acceptedStatus } from '../rows/notification.ts'
import type { Runner } from './connection.ts'

/** The columns of a notification that facts need: never its content. */
export const FACT_COLUMNS =
  'n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.trace'

/** Everybody who adds facts holds this lock, in the order of ids; the fold is read after it, by another statement. */
const LOCK_BY_IDS = `
  SELECT ${FACT_COLUMNS} FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[]) ORDER BY n.id FOR NO KEY UPDATE OF n`

const SELECT_STATES = `
  SELECT s.notification, s.status, s.sequence, s.announced, s.fold, s.provider, s.provider_message_id, s.error
  FROM carillon.states AS s WHERE s.notification = ANY ($1::text[])`

/** Locks jobs that are leased, and then their notifications. */
export const lockLeased = (jobs: readonly number[]): string => `
  SELECT o_job AS job, o_token AS token, o_seq AS seq, o_id AS id, o_organization AS organization, o_channel AS channel,
    o_recipient AS recipient, o_created_at AS created_at, o_send_at AS send_at, o_trace AS trace
  FROM carillon.lock_leased_2('{${jobs}}'::bigint[])`

/** Where the notifications of jobs stand that are locked already. */
export const statesOfJobs = (jobs: readonly number[]): string => `
  SELECT o_notification AS notification, o_status AS status, o_sequence AS sequence, o_announced AS announced,
    o_fold AS fold, o_provider AS provider, o_provider_message_id AS provider_message_id, o_error AS error
  FROM carillon.states_of_jobs_2('{${jobs}}'::bigint[])`

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

/** Where a notification stands, as it is stored. */
export interface StateRow {
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
  const locked = await tx.rows<LockedRow>(LOCK_BY_IDS, [ids])
  return standingsOf(locked, await tx.rows<StateRow>(SELECT_STATES, [locked.map(({ id }) => id)]))
}

/** Brings locked notifications together with where they stand. By id. */
export function standingsOf(
  locked: readonly LockedRow[],
  states: readonly StateRow[],
): Map<string, Standing> {
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
