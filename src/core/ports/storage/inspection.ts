/** What an operator asks about a storage. Nothing of it holds data or secrets. */
export interface StorageInspection {
  /** Version of the stored schema. 0: there is none. Null: it may not be read. Above `needed`: of a later Carillon. */
  readonly version: number | null
  /** Version that this code needs. */
  readonly needed: number
  /** What a start would run, in order. Tables for kinds of records and partitions come in addition. */
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
  /** What it needs it for. */
  readonly purpose: string
  /** The statement that grants it. */
  readonly grant: string
}
