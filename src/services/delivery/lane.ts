import type { ClaimedJob } from '../../ports/storage/claim.ts'

/** Where the jobs of one lane go: the providers of a channel, or one webhook endpoint. */
export interface Lane {
  /** How many jobs may be taken now. Only so many are claimed: nothing leased ever waits in memory. */
  free(): number
  /** Takes a claimed job. Ends by itself: settled, or left to the lease's expiry when the storage is away. */
  run(job: ClaimedJob): void
  /** Resolves when nothing runs. */
  idle(): Promise<void>
}

/** Finds lanes by the names that jobs carry. */
export interface Lanes {
  /** Undefined: no lane of this process; its jobs wait for one that has it. */
  get(name: string): Lane | undefined
  /** How many jobs run. */
  running(): number
  idle(): Promise<void>
}
