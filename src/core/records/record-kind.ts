/**
 * A kind of record: cold data of one shape, such as API keys or templates. Declared once, by the use case that owns it.
 * The service registers it, and every storage then has a table for it.
 */
export interface RecordKind<Value extends object = object> {
  /** Lower-case letters and `_`, starting with a letter; at most 40 characters. */
  readonly name: string
  /** Version of the shape of the values, from 1. */
  readonly version: number
  /**
   * Turns a value that was stored with an older version into the current shape. Required from version 2 on. Unknown
   * fields must stay: a newer process may have written them.
   */
  upgrade?(value: object, from: number): Value
  /** Why erasure and export of a person leave its records alone. Absent: a feature says what they do, see `PersonalRecords`. */
  readonly notPersonal?: string
  /** A text that at most one record of the kind has. Null: none. */
  key?(value: Value, organizationId: string | null): string | null
  /** The name of the list that shows the record within its organization. Null: none. */
  list?(value: Value): string | null
  /**
   * When the record falls due, so that {@link Records.claimDue} hands it out. Epoch milliseconds, also of the past. Null:
   * never. Must not throw for any stored value.
   */
  due?(value: Value): number | null
}
