import type { Clock } from '../ports/clock.ts'
import type { DueLanes, JobSource } from './job-source.ts'
import type { Lanes } from './lane.ts'
import type { Offers, Taken } from './offers.ts'

/**
 * Claims the jobs that a queue engine offers. Of the lanes, it claims only those with more offers than slots; once in a
 * poll interval it looks at all, for jobs that the engine has lost.
 */
export function createOfferedJobs(
  offers: Offers,
  dueLanes: DueLanes,
  lanes: Lanes,
  clock: Clock,
  leaseMs: number,
  pollMs: number,
): JobSource {
  /** Time of the next look, monotonic. */
  let lookAt = Number.NEGATIVE_INFINITY
  /** The refs of the running claim. */
  let taken: Taken | null = null
  /** The last claim was one of offers: the lanes go first, because refs must not delay them. */
  let tookLast = false

  const looks = (): boolean => clock.monotonic() >= lookAt
  const untilLook = (): number => (looks() ? pollMs : lookAt - clock.monotonic())

  /** Refs go to free slots at once, unless their lane has a backlog: then it continues round-robin. */
  async function take(): Promise<readonly string[]> {
    const offered = offers.lanes().filter((lane) => !dueLanes.due().has(lane))
    await lanes.prepare(offered)
    taken = offers.take(lanes.demand(offered))
    dueLanes.add(taken.left)
    return taken.ids
  }

  return {
    wake: dueLanes.wake,
    due: dueLanes.due,
    async next() {
      dueLanes.forgetWoken()
      const ids = tookLast && dueLanes.hasWork() ? [] : await take()
      tookLast = ids.length > 0
      if (ids.length > 0) return { ids, leaseMs }
      return looks() || dueLanes.hasWork() ? dueLanes.request() : untilLook()
    },
    learn(answer, request) {
      const known = dueLanes.due()
      // Other claimable jobs are on their way through the engine, unless they have been for long.
      const isLook = looks()
      if (isLook) lookAt = clock.monotonic() + pollMs
      const more = dueLanes.learn(answer, request, (lane) => isLook || known.has(lane))
      return more || offers.lanes().length > 0
    },
    waitMs: untilLook,
    over(failed) {
      if (taken === null) return
      if (failed) dueLanes.add(taken.lanes)
      taken.over()
      taken = null
    },
    close: offers.close,
  }
}
