import type { ClaimedJob, LaneDemand } from '../../ports/storage/claim.ts'

/** Where the jobs of one lane go: the providers of a channel, or one webhook endpoint. */
export interface Lane {
  /** How many jobs may be taken now. Only so many are claimed: nothing leased ever waits in memory. */
  free(): number
  /** What {@link free} may become by {@link prepare}. Default: the same. */
  room?(): number
  /** Gets what {@link free} needs, without waiting for anything slow; undefined: there is nothing to get. */
  prepare?(): Promise<unknown> | undefined
  /** After a claim: gives back what it left. */
  giveBack?(): void
  /** Nothing is decided before an attempt: a claim may begin it. */
  readonly begin: boolean
  /** Lanes of one pool share their slots. Default: the lane has its own. */
  readonly pool?: object
  /** Takes a claimed job; resolves when it is settled, or left to the lease's expiry when the storage is away. */
  run(job: ClaimedJob): Promise<void>
}

/** Finds lanes by the names that jobs carry. */
export interface Lanes {
  /** Undefined: no lane of this process; its jobs wait for one that has it. */
  get(name: string): Lane | undefined
  /** Gets what a claim for these lanes needs; undefined: there is nothing to get. */
  prepare(names: Iterable<string>): Promise<unknown> | undefined
  /** Lanes with work, as far as is known; more are added to the set as they become known. */
  found(names: ReadonlySet<string>): void
  /** What can be taken of these lanes together. */
  demand(names: Iterable<string>): LaneDemand[]
  /** After a claim, when its jobs have been handed to their lanes. */
  giveBack(): void
}
