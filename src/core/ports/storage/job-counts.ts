/** Which unfinished jobs to count: all, those of an organization's notifications, or that of one notification. */
export type JobsOf =
  | 'all'
  /** Of the ready jobs only those in these lanes. */
  | { readonly organizationId: string; readonly lanes: readonly string[] }
  | { readonly notificationId: string }

export interface JobCounts {
  /** A lane and state may occur several times: add them up. */
  readonly counts: readonly JobCount[]
  /**
   * Webhook deliveries that wait for a redelivery because their endpoint is disabled. They are in no lane. Counted only
   * for `all`; otherwise 0.
   */
  readonly held: number
  /** The storage's time in epoch milliseconds. */
  readonly now: number
}

/** Jobs of one lane in one state. */
export interface JobCount {
  /** A lane of notifications. Null: all webhook endpoints together. */
  readonly lane: string | null
  /**
   * - `due`: a claim could take them now, recovered ones included;
   * - `scheduled`: due later, without an attempt since their accept or newest retry;
   * - `retrying`: due later, after an attempt since then;
   * - `running`: under a valid lease.
   */
  readonly state: 'due' | 'scheduled' | 'retrying' | 'running'
  readonly jobs: number
  /**
   * The earliest time at which one of them became or becomes due, in epoch milliseconds. After a lease that has ended it
   * is its end. Of `running` ones it has no meaning.
   */
  readonly dueAt: number
}
