import type { DelayedOf } from '../../core/ports/storage/notifications.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'

/** Delayed messages that are to be judged again, because what the gate goes by has changed. */
export interface DelayValue {
  readonly of: DelayedOf
  /** Where the next step continues. Null: at the oldest. */
  readonly after: string | null
  /** Rounds after this one. */
  readonly more: number
  /** Epoch milliseconds. */
  readonly dueAt: number
}

/** One for each change. */
export const delayKind: RecordKind<DelayValue> = { name: 'delays', version: 1, due: ({ dueAt }) => dueAt }
