import type { QueueWorker } from '../ports/queue.ts'
import type { LaneDemand } from '../ports/storage/claim.ts'
import { permittedSlots } from './share.ts'

/** Refs from a queue engine that wait for the next claim. */
export interface Offers {
  /** Resolves when all refs are claimed or left to their lanes. */
  add: QueueWorker['handle']
  /** The lanes of the waiting refs. */
  lanes(): readonly string[]
  /**
   * Takes all refs.
   *
   * @param demand free slots. Refs beyond are left to their lane, which fills later slots from the storage, fairly:
   *   nothing waits here under a lease or blocks another lane.
   */
  take(demand: readonly LaneDemand[]): Taken
  /** Leaves all refs to their lanes, including later ones. */
  close(): void
}

/** The refs of one claim. */
export interface Taken {
  readonly ids: readonly string[]
  /** The lanes of {@link ids}. */
  readonly lanes: readonly string[]
  /** The lanes with more refs than free slots. */
  readonly left: ReadonlySet<string>
  /** Called when the claim has been answered or has failed. */
  over(): void
}

export function createOffers(): Offers {
  let sets: { readonly refs: Parameters<QueueWorker['handle']>[0]; over(): void }[] = []
  let closed = false
  return {
    add(refs) {
      if (closed) return Promise.resolve()
      return new Promise((resolve) => sets.push({ refs, over: resolve }))
    },
    lanes: () => [...new Set(sets.flatMap(({ refs }) => refs.map(({ lane }) => lane)))],
    take(demand) {
      const taken = sets
      sets = []
      const free = new Map(demand.map((one) => [one.lane, Math.min(one.free, mostOf(one))]))
      const ids = new Set<string>()
      const left = new Set<string>()
      for (const { jobId, lane } of taken.flatMap(({ refs }) => refs)) {
        const slots = free.get(lane) ?? 0
        if (ids.has(jobId)) continue
        if (slots === 0) left.add(lane)
        else {
          free.set(lane, slots - 1)
          ids.add(jobId)
        }
      }
      return {
        ids: [...ids],
        lanes: demand.map(({ lane }) => lane),
        left,
        over() {
          for (const set of taken) set.over()
        },
      }
    },
    close() {
      closed = true
      for (const set of sets) set.over()
      sets = []
    },
  }
}

/** So few that the rule of shared slots permits them, whichever organizations they belong to. */
function mostOf({ shared }: LaneDemand): number {
  if (shared === undefined || shared.exempt !== null) return Number.POSITIVE_INFINITY
  return permittedSlots(shared.empty, Math.max(0, ...shared.used.values()))
}
