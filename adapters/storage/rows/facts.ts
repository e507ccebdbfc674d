import type { NotificationStatus } from '../../../src/core/notification/notification.ts'
import type { FactState } from '../../../src/core/notification/record-facts.ts'
import { initialFold } from '../../../src/core/notification/status.ts'
import type { LabelColumns } from './labels.ts'
import { type AcceptRow, acceptedStatus } from './notification.ts'

/** The columns of a notification that facts need and do not change. */
export interface FactRow extends AcceptRow, LabelColumns {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly channel: string
  readonly recipient: string
  readonly trace: string | null
}

/** The columns of a notification that facts change. */
export interface FactColumns {
  /** Null: no facts yet; then the other columns mean nothing. */
  readonly status: NotificationStatus | null
  readonly sequence: number
  readonly published: number
  /** JSON. */
  readonly fold: string | null
  readonly provider: string | null
  readonly provider_message_id: string | null
  /** JSON. */
  readonly error: string | null
}

/**
 * The state to pass to `recordFacts`.
 *
 * @param columns null: no facts yet
 *
 * @example
 * const [columns = null] = await query<FactColumns>('SELECT * FROM states WHERE seq = $1 FOR UPDATE', [seq])
 * const state = toFactState(accepted, columns)
 */
export function toFactState(accepted: AcceptRow, columns: FactColumns | null): FactState {
  if (columns === null || columns.status === null || columns.fold === null) {
    const status = acceptedStatus(accepted)
    const nothing = { provider: null, providerMessageId: null, error: null }
    return { status, fold: initialFold(status), sequence: 1, published: 0, ...nothing }
  }
  return {
    status: columns.status,
    fold: JSON.parse(columns.fold),
    sequence: columns.sequence,
    published: columns.published,
    provider: columns.provider,
    providerMessageId: columns.provider_message_id,
    error: columns.error === null ? null : JSON.parse(columns.error),
  }
}

/**
 * The columns to store for the state that `recordFacts` returned.
 *
 * @example
 * const { status, sequence, fold } = factColumns(state)
 * const statement = 'UPDATE notifications SET status = $1, sequence = $2, fold = $3 WHERE seq = $4'
 * await query(statement, [status, sequence, fold, seq])
 */
export function factColumns(state: FactState): FactColumns {
  return {
    status: state.status,
    sequence: state.sequence,
    published: state.published,
    fold: JSON.stringify(state.fold),
    provider: state.provider,
    provider_message_id: state.providerMessageId,
    error: state.error === null ? null : JSON.stringify(state.error),
  }
}
