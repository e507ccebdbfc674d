/**
 * Lets an existing queue engine do the dispatch over many machines. The storage stays the truth: every ref is
 * claimed by id with a fencing token before anything is sent, so a duplicate ref is harmless and a lost one is
 * found by the storage's own sweep.
 */
export interface Queue {
  /** Announces jobs after the commit that stored them. May lose them; must not block the caller for long. */
  announce(refs: readonly JobRef[]): Promise<void>
  /** Starts handing refs to `handle`, which resolves when the job has been settled, retried or found taken. */
  start(handle: (ref: JobRef) => Promise<void>): Promise<void>
  /** Stops taking refs; resolves when every running `handle` has. */
  stop(): Promise<void>
}

/** Names a stored job. */
export interface JobRef {
  readonly jobId: string
  readonly lane: string
  /** Epoch milliseconds of the storage's clock. */
  readonly dueAt: number
}
