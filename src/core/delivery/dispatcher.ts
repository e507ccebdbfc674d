import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterTurns } from '../loop/end-of-turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../ports/storage/claim.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { createDueLanes, type JobSource } from './job-source.ts'
import type { Lanes } from './lane.ts'
import { createOfferedJobs } from './offered-jobs.ts'
import type { Offers } from './offers.ts'
import { createRecovery } from './recovery.ts'

/** Claims due jobs for free slots. */
export interface Dispatcher {
  /** Starts to claim. */
  start(): void
  /** Jobs may be due; `lane` if known. Cheap to call often. */
  wake(lane?: string): void
  /** A slot may have become free. Cheap to call often. */
  freed(): void
  /** Stops claiming; a pending claim is returned. */
  stop(): Promise<void>
  /** Resolves when no job runs. */
  idle(): Promise<void>
  /** The known lanes with work to claim. */
  due(): Iterable<string>
}

export interface DispatcherOptions {
  readonly storage: Storage
  readonly lanes: Lanes
  readonly clock: Clock
  readonly leaseMs: number
  /** Longest interval between two looks for unannounced work. */
  readonly pollMs: number
  /**
   * Refs from a queue engine. Between two polls only these, and the jobs that they left to their lanes, are claimed.
   */
  readonly offers?: Offers | undefined
  onError(error: unknown): void
}

/** Half of the first delay after a failed claim, independent of `pollMs`: no other event may wake the loop. */
const BACKOFF_MS = 1_000
/** Longest delay after failed claims. */
const LONGEST_BACKOFF_MS = 30_000

const CLAIM_AFTER_TURNS = 3

/**
 * The claim loop. Each round asks for as many jobs as there are free slots, in the lanes known to have some. The answer
 * says which lanes have more and when the next job is due.
 */
export function createDispatcher({
  storage,
  lanes,
  clock,
  leaseMs,
  pollMs,
  offers,
  onError,
}: DispatcherOptions): Dispatcher {
  /** Running jobs with the time of their claim (monotonic). */
  const running = new Map<Promise<void>, number>()
  const recovery = createRecovery(lanes, clock, leaseMs, running)
  const dueLanes = createDueLanes(lanes, leaseMs, pollMs)
  const source: JobSource =
    offers === undefined ? dueLanes : createOfferedJobs(offers, dueLanes, lanes, clock, leaseMs, pollMs)
  /** What has happened since the last claim began. `news`: jobs may have become due. */
  let pending: 'nothing' | 'slot freed' | 'news' = 'nothing'
  let active = false
  let round: Promise<void> | null = null
  /** Failed claims in a row. */
  let failures = 0
  let cancelTimer = (): void => {}
  /** Delivery must not run in the async context or trace of the caller that wakes it. */
  const outside = AsyncLocalStorage.snapshot()

  function wake(lane?: string): void {
    if (lane !== undefined) source.wake(lane)
    pending = 'news'
    proceed()
  }

  function freed(): void {
    if (pending === 'nothing') pending = 'slot freed'
    proceed()
  }

  function proceed(): void {
    if (!active || round !== null) return
    round = outside(claimWhilePending).finally(() => {
      round = null
      // Work arrived after the last look, before the loop ended.
      if (pending !== 'nothing' && failures === 0) proceed()
    })
  }

  async function claimWhilePending(): Promise<void> {
    // One claim fills slots that become free at about the same time.
    await new Promise<void>((resolve) => afterTurns(CLAIM_AFTER_TURNS, resolve))
    for (let first = true; active && pending !== 'nothing'; first = false) {
      // A synchronous storage would block the process.
      if (!first) await nextTurn()
      const news = pending === 'news'
      pending = 'nothing'
      try {
        await claim(news)
        failures = 0
      } catch (error) {
        onError(error)
        failures += 1
        sleep(Math.min(Math.min(pollMs, BACKOFF_MS) * 2 ** failures, LONGEST_BACKOFF_MS))
        return
      }
    }
  }

  async function claim(news: boolean): Promise<void> {
    let failed = true
    try {
      const request = (await recovery.next()) ?? (await source.next(news))
      if (typeof request === 'number') sleep(Math.min(request, source.waitMs()))
      else if (active && request !== null) await carryOut(request)
      failed = false
    } finally {
      lanes.giveBack()
      source.over?.(failed)
    }
  }

  async function carryOut(request: ClaimRequest): Promise<void> {
    const asked = clock.monotonic()
    const answer = await storage.claim(request)
    if (!active) return storage.release(answer.jobs)
    const jobs = clock.monotonic() - asked < leaseMs / 3 ? answer.jobs : await stillLeased(answer.jobs)
    for (const job of jobs) run(job, 'recovered' in request)
    learn({ ...answer, jobs }, request)
  }

  /** No lease is renewed before its claim is answered, and attempts may have begun with it. */
  async function stillLeased(jobs: readonly ClaimedJob[]): Promise<readonly ClaimedJob[]> {
    try {
      const alive = await storage.renew(jobs, leaseMs)
      return jobs.filter((_job, index) => alive[index] === true)
    } catch (error) {
      await storage.release(jobs)
      throw error
    }
  }

  function run(job: ClaimedJob, isRecovered: boolean): void {
    const lane = lanes.get(job.lane)
    if (lane === undefined) return
    const ended = (): void => {
      running.delete(end)
      if (recovery.waits()) wake()
      else freed()
    }
    const end = lane.run(job).then(ended, (error) => {
      onError(error)
      ended()
    })
    running.set(end, clock.monotonic())
    if (isRecovered) recovery.began(job, end)
  }

  function learn(answer: ClaimAnswer, request: ClaimRequest): void {
    const more = source.learn(answer, request)
    recovery.learn(answer, request, more)
    const turnMs = recovery.turnInMs()
    if ((more || turnMs === 0) && pending === 'nothing') pending = 'slot freed'
    sleep(Math.min(turnMs === 0 ? pollMs : turnMs, source.waitMs(answer)))
  }

  function sleep(ms: number): void {
    cancelTimer()
    cancelTimer = clock.timer(Math.max(1, ms), () => wake())
  }

  return {
    wake,
    freed,
    start() {
      active = true
      wake()
    },
    async stop() {
      active = false
      cancelTimer()
      await round
      cancelTimer()
      source.close?.()
    },
    async idle() {
      await Promise.all(running.keys())
    },
    due: source.due,
  }
}
