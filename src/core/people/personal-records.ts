import type { ChannelKind } from '../channels/channel-kind.ts'
import type { StoredRecord } from '../ports/storage/records.ts'
import type { RecordKind } from '../records/record-kind.ts'

/** Whom an erasure or an export is about. */
export interface Person {
  /** The application's id. Null: named by address. */
  readonly recipient: string | null
  /** Null: named by the application's id. */
  readonly address: PersonAddress | null
}

export interface PersonAddress {
  readonly kind: ChannelKind
  readonly to: string
}

/** What erasure and export do with the records of a kind that are about a person. */
export interface PersonalRecords<Value extends object = object> {
  readonly kind: RecordKind<Value>
  /** Ids of the records of a person. Absent: they do not follow from the person, and each record is asked. */
  ids?(organizationId: string, person: Person): readonly string[]
  /** Whether a record is about the person. */
  concerns?(value: Value, person: Person): boolean
  /** What stays. The same value: all. Null: nothing. */
  erased(value: Value, person: Person): Value | null
  /** A line of an export, with times in ISO 8601 UTC. Null: none, because it tells people nothing. */
  exported(record: StoredRecord<Value>, person: Person): { readonly type: string } | null
}

/**
 * Every erasure would forget a kind that says neither whom its records concern nor why they concern no person.
 *
 * @throws Error
 */
export function assertCustody(kinds: readonly RecordKind[], personal: readonly PersonalRecords[]): void {
  const declared = new Set(personal.map(({ kind }) => kind.name))
  for (const { name, notPersonal } of kinds) {
    if (declared.has(name) === (notPersonal === undefined)) continue
    throw new Error(
      `The kind of records "${name}" must have either "notPersonal" or an entry in "personal" of its feature: it says what ` +
        'erasure and export of a person do with them.',
    )
  }
}
