import { ERASED_ADDRESS, erasedFact } from '../../../src/core/notification/erased-fact.ts'
import { concerns, erasedState } from '../../../src/core/notification/erasure.ts'
import type { Fact } from '../../../src/core/notification/facts.ts'
import type { NotificationFailure } from '../../../src/core/notification/notification.ts'
import { failureOf } from '../../../src/core/notification/record-facts.ts'
import { type FactColumns, type FactRow, factColumns, toFactState } from './facts.ts'

/**
 * The columns of a notification whose addressee is erased.
 *
 * @example
 * for (const row of await query<FactRow & FactColumns>('SELECT * FROM notifications WHERE person = $1', ['user:42'])) {
 *   const { recipient, fold } = erasedColumns(row)
 *   await query('UPDATE notifications SET recipient = $1, fold = $2 WHERE seq = $3', [recipient, fold, row.seq])
 * }
 */
export function erasedColumns<Row extends FactRow & FactColumns>(
  row: Row,
): Row & { readonly recipient: string } {
  const state = row.status === null ? {} : factColumns(erasedState(toFactState(row, row)))
  return { ...row, ...state, recipient: ERASED_ADDRESS, person: null, metadata: null, trace: null }
}

/**
 * A stored fact without identity.
 *
 * @param fact JSON
 * @param addresses only if it names one of them, with small letters. Absent: in any case
 *
 * @example
 * for (const { sequence, fact } of await query<{ sequence: number; fact: string }>('SELECT * FROM events'))
 *   await query('UPDATE events SET fact = $1 WHERE sequence = $2', [erasedFactText(fact), sequence])
 */
export function erasedFactText(fact: string, addresses?: readonly string[]): string {
  const parsed: Fact = JSON.parse(fact)
  return addresses === undefined || concerns(parsed, addresses) ? JSON.stringify(erasedFact(parsed)) : fact
}

/**
 * The stored reason of a failure without identity, if it names one of the addresses.
 *
 * @param error JSON. Null: none
 *
 * @example
 * const error = erasedErrorText(columns.error, ['ada@example.com'])
 * await query('UPDATE states SET error = $1 WHERE seq = $2', [error, seq])
 */
export function erasedErrorText(error: string | null, addresses: readonly string[]): string | null {
  if (error === null) return null
  const { code, decidedBy, ...texts }: NotificationFailure = JSON.parse(error)
  return concerns(texts, addresses) ? JSON.stringify(failureOf({ code, decidedBy })) : error
}
