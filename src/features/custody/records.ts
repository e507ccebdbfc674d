import type { RecordKind } from '../../core/records/record-kind.ts'
import type { ErasureCounts, PersonInput } from './model.ts'

export interface ErasureValue {
  /** A keyed hash. */
  readonly target: string
  readonly counts: ErasureCounts
  /** Whom it is about, sealed: a {@link PersonInput} as JSON. Null: it is complete. */
  readonly about: string | null
  /** Uploads to remove that erased notifications named. */
  readonly uploads: readonly string[]
  /** See `CustodyRepository.mark`. */
  readonly mark: string
  /** The pass under way. */
  readonly pass: ErasurePass
  /** Epoch milliseconds. Null: complete. */
  readonly dueAt: number | null
  /** Epoch milliseconds. Null: it is running. */
  readonly completedAt: number | null
}

export interface ErasurePass {
  /** It began after everything that was under way when the erasure began. */
  readonly isLast: boolean
  /** Whether it has found anything. */
  readonly found: boolean
  /** Over all organizations: after which page of them it goes on. Null: at the first. */
  readonly after: string | null
}

export const RUNNING = 'running'

export const erasureKind: RecordKind<ErasureValue> = {
  name: 'erasures',
  version: 1,
  notPersonal: 'names no one once it is complete',
  list: ({ about }) => (about === null ? 'completed' : RUNNING),
  // Of one person one is running.
  key: ({ about, target }, organizationId) => (about === null ? null : `${organizationId}\n${target}`),
  due: ({ dueAt }) => dueAt,
}
