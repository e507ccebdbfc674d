import type { ClaimedJob, LaneDemand } from '../ports/storage/claim.ts'

/** Delivers the jobs of one lane: through a channel's providers, or to one webhook endpoint. */
export interface Lane {
  /** Number of jobs that can start now. No more are claimed: leased jobs never wait in memory. */
  free(): number
  /** Maximum of {@link free} after {@link prepare}. Default: the same. */
  room?(): number
  /** Loads data for {@link free} without waiting for anything slow. Undefined: not needed. */
  prepare?(): Promise<unknown> | undefined
  /** Returns unused permits after a claim. */
  giveBack?(): void
  /** Nothing is decided before an attempt: a claim may begin it. */
  readonly begin: boolean
  /** The slots, if organizations or lanes share them. */
  readonly pool?: SlotPool | null
  /** Runs a claimed job. Resolves when it is settled, or left to its lease while the storage is away. */
  run(job: ClaimedJob): Promise<void>
}

/** Slots that lanes share. */
export interface SlotPool {
  /** Number of slots that may be filled now. */
  free(): number
  /** Number of empty slots, at least {@link free}: a rate limit may permit fewer. */
  empty(): number
  /** Number of used slots by organization. */
  used(): ReadonlyMap<string, number>
}

/** Finds lanes by name. */
export interface Lanes {
  /** Undefined: unknown here; its jobs wait for a process that has it. */
  get(name: string): Lane | undefined
  /** Loads data for a claim of these lanes. Undefined: not needed. */
  prepare(names: Iterable<string>): Promise<unknown> | undefined
  /** Number of jobs to claim per lane. */
  demand(names: Iterable<string>): LaneDemand[]
  /** Called after a claim, when its jobs are in their lanes. */
  giveBack(): void
}

/** Whether a lane may have a free slot after {@link Lanes.prepare}. */
export function hasRoom(lanes: Pick<Lanes, 'get'>, name: string): boolean {
  const lane = lanes.get(name)
  return lane !== undefined && (lane.room?.() ?? lane.free()) > 0
}
