/** The schema, the clock and the rights of a storage, without data or secrets. */
export interface StorageInspection {
  /** Version of the stored schema. 0: there is none. Null: it may not be read. Above `needed`: of a later Carillon. */
  readonly version: number | null
  /** Version that this code needs. */
  readonly needed: number
  /** The steps that a start would run, in order; without tables for kinds of records and partitions. */
  readonly steps: readonly SchemaStep[]
  /** Its clock, in epoch milliseconds. */
  readonly now: number
  readonly missingRights: readonly MissingRight[]
}

/** The change from one version of the schema to the next. */
export interface SchemaStep {
  /** The version that it makes. */
  readonly version: number
  readonly sql: string
}

/** A right that the storage needs and does not have. */
export interface MissingRight {
  /** Completes "the role may not …". */
  readonly purpose: string
  /** The statement that grants it. */
  readonly grant: string
}
