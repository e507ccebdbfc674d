import type { QueueWorker } from '../../ports/queue.ts'
import type { LaneDemand } from '../../ports/storage/claim.ts'

/** Jobs that a queue engine has handed to this process, until a round of claims takes them. */
export interface Offers {
  /** Resolves when all have been claimed, or left to their lanes. */
  add: QueueWorker['handle']
  /** The lanes of what is here. */
  lanes(): readonly string[]
  /**
   * Takes everything that is here.
   *
   * @param demand what is free; what does not fit is left to its lane: a slot that becomes free there is filled from the
   *   storage, fairly, and nothing waits here under a lease or holds up another lane
   */
  take(demand: readonly LaneDemand[]): Taken
  /** Leaves what is here to its lanes, and whatever else the engine had on its way. */
  close(): void
}

/** What one claim asks for. */
export interface Taken {
  readonly ids: readonly string[]
  /** The lanes of {@link ids}. */
  readonly lanes: readonly string[]
  /** The lanes with more than is free. */
  readonly left: ReadonlySet<string>
  /** The claim has been answered, or has failed. */
  over(): void
}

export function createOffers(): Offers {
  let sets: { readonly refs: Parameters<QueueWorker['handle']>[0]; over(): void }[] = []
  const lanes = new Set<string>()
  let closed = false
  return {
    add(refs) {
      if (closed) return Promise.resolve()
      for (const { lane } of refs) lanes.add(lane)
      return new Promise((resolve) => sets.push({ refs, over: resolve }))
    },
    lanes: () => [...lanes],
    take(demand) {
      const taken = sets
      sets = []
      lanes.clear()
      const free = new Map(demand.map(({ lane, free }) => [lane, free]))
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
      lanes.clear()
    },
  }
}
