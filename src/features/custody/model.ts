/** A person: by the application's id, or by an address on a channel, in any spelling. */
export type PersonInput =
  | {
      /** The application's id of a person, as `recipient` in a send. */
      readonly recipient: string
      readonly channel?: undefined
      readonly to?: undefined
    }
  | {
      readonly channel: string
      /** An address, as `to` in a send. */
      readonly to: string
      readonly recipient?: undefined
    }

export interface EraseOptions {
  /** True: only counts, and changes nothing. Default false. */
  readonly dryRun?: boolean | undefined
  /** Ends a dry run, which then rejects with an `AbortError`. An erasure goes on. */
  readonly signal?: Pick<AbortSignal, 'aborted'> | undefined
}

export interface ExportOptions {
  /** Ends the lines with an `AbortError`, also between two of them. */
  readonly signal?: Pick<AbortSignal, 'aborted'> | undefined
}

/** What an erasure has erased. A process that ends in the middle may leave the last step uncounted. */
export interface ErasureCounts {
  /** To the person. */
  readonly notifications: number
  /** Of them, those that waited. */
  readonly cancelled: number
  /** To others, with a copy to the address. */
  readonly copies: number
  /** Webhook deliveries that lost their bodies. Not counted in a dry run. */
  readonly deliveries: number
  readonly uploads: number
  readonly preferences: number
  readonly suppressions: number
  /** Received messages, and reports about unknown messages. */
  readonly received: number
  /** Other records, such as those of plug-ins. */
  readonly records: number
}

/** An erasure. It does not name the person. */
export interface ErasureRecord {
  /** Null: a dry run. */
  readonly id: string | null
  /** Null: over all organizations. */
  readonly organizationId: string | null
  readonly status: 'running' | 'completed' | 'dry_run'
  /** Names the person by a keyed hash, as the audit log does. */
  readonly target: string
  readonly counts: ErasureCounts
  readonly createdAt: string
  /** Null: it is running. */
  readonly completedAt: string | null
}

/** A line of an export. Its other fields depend on `type`. */
export interface ExportedLine {
  /**
   * `notification`, `attachment` (a part of a file of the notification before), `upload` (the same of an uploaded file), `copy`,
   * `received`, `report`, `preferences`, `suppression`, `refusals` or `record`. Later versions add more.
   */
  readonly type: string
  readonly [field: string]: unknown
}
