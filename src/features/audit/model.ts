import type { AuditAction, AuditTargetKind } from '../../core/audit/actions.ts'
import type { AuditActor, AuditOrigin } from '../../core/audit/audit.ts'
import type { AuditedField } from '../../core/audit/changed.ts'
import type { ListQuery } from '../../core/records/list.ts'

/** One change by hand, or one message that was read with the grant `content`. */
export interface AuditEntry {
  readonly id: string
  /** Null: it concerns operators. */
  readonly organizationId: string | null
  /** ISO 8601 UTC. */
  readonly at: string
  readonly actor: AuditActor
  readonly action: AuditAction
  /** People are named by a hash. */
  readonly target: {
    readonly kind: AuditTargetKind
    readonly id: string
    /** Its name at that time. Null: it has none. */
    readonly name: string | null
  }
  /** Null: a call from code, or hidden: of operators. */
  readonly origin: AuditOrigin | null
  /** The changed fields; values only of harmless ones, such as names and levels. */
  readonly changed: readonly AuditedField[]
}

export interface AuditLogQuery extends ListQuery {
  /** Id of the key, or name of the person or actor. */
  readonly actor?: string | undefined
  readonly action?: AuditAction | undefined
  /** Id of the target. Not with `recipient` or `to`. */
  readonly target?: string | undefined
  /** Changes of the preferences of a person, by the application's id. */
  readonly recipient?: string | undefined
  /** The channel of `to`. */
  readonly channel?: string | undefined
  /** Changes of the suppression and preferences of an address on `channel`. */
  readonly to?: string | undefined
  /** At or after this time. */
  readonly from?: string | Date | undefined
  /** Before this time. */
  readonly until?: string | Date | undefined
}
