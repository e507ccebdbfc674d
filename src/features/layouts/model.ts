import type { AuditActor } from '../../core/audit/audit.ts'

/** A layout or partial. It is also valid as an update, without its id and dates, and then changes nothing. */
export interface SharedTextRecord {
  /** `lay_…` or `part_…` */
  readonly id: string
  readonly name: string
  /** For HTML. Null: none. */
  readonly html: string | null
  /** For plain text, and for channels without HTML. Null: none. */
  readonly text: string | null
  readonly description: string | null
  readonly version: number
  readonly createdAt: string
  /** When the current version was made: ISO 8601 UTC. */
  readonly updatedAt: string
}

/** A version of a layout or partial. Its description is not versioned. */
export interface SharedTextVersionRecord
  extends Pick<SharedTextRecord, 'id' | 'version' | 'name' | 'html' | 'text'> {
  /** Who made it. Null: it is from before authors were kept. */
  readonly author: AuditActor | null
  /** Creation of the version: ISO 8601 UTC. */
  readonly createdAt: string
}

/** A text that uses a layout or partial. */
export interface TextUser {
  readonly type: 'template' | 'layout' | 'partial'
  readonly id: string
  readonly name: string
}
