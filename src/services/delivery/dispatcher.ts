import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../ports/storage/claim.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Lanes } from './lane.ts'

/** Moves due jobs from the storage into free slots. */
export interface Dispatcher {
  /** Begins to claim. */
  start(): void
  /** Something may be due or a slot free; `lane` where it is known. Cheap to call often. */
  wake(lane?: string): void
  /** Claims nothing more; a claim that is under way is returned. */
  stop(): Promise<void>
  /** Resolves when no job runs. */
  idle(): Promise<void>
}

export interface DispatcherOptions {
  readonly storage: Storage
  readonly lanes: Lanes
  readonly clock: Clock
  readonly leaseMs: number
  /** Longest time between two looks for work of other processes. */
  readonly pollMs: number
  failed(error: unknown): void
}

/** The longest pause after claims that failed in a row. */
const LONGEST_BACKOFF_MS = 30_000

/**
 * The claim loop. A round asks the storage for as many jobs as there are free slots, for the lanes that are known to
 * have some, and learns from the answer which lanes have more and when the next job falls due.
 */
export function createDispatcher({
  storage,
  lanes,
  clock,
  leaseMs,
  pollMs,
  failed,
}: DispatcherOptions): Dispatcher {
  let due = new Set<string>()
  let recovered: readonly string[] = []
  /** Jobs that have been claimed and not ended. */
  const running = new Set<Promise<void>>()
  /** A recovered job is among them. */
  let alone = false
  /** Since when others are held up for a recovered job; null: they are not. */
  let heldUpSince: number | null = null
  /** Until then it is the turn of others. */
  let othersUntil = Number.NEGATIVE_INFINITY
  let active = false
  let scheduled = false
  let round: Promise<void> | null = null
  let again = false
  let failures = 0
  let cancelTimer = (): void => {}
  /** What delivery does belongs to no caller who happens to wake it, neither to their traces nor to their context. */
  const outside = AsyncLocalStorage.snapshot()

  function wake(lane?: string): void {
    if (lane !== undefined) due.add(lane)
    again = true
    if (!active || scheduled || round !== null) return
    scheduled = true
    // The end of the turn: slots that become free together are filled by one claim.
    setImmediate(outside, () => {
      scheduled = false
      round = rounds().finally(() => {
        round = null
      })
    })
  }

  async function rounds(): Promise<void> {
    while (active && again) {
      again = false
      try {
        await claim()
        failures = 0
      } catch (error) {
        failed(error)
        failures += 1
        sleep(Math.min(pollMs * 2 ** failures, LONGEST_BACKOFF_MS))
        return
      }
    }
  }

  async function claim(): Promise<void> {
    try {
      const request = await nextRequest()
      // A recovered job runs alone: it waits until nothing else does, and meanwhile nothing else is taken.
      if (request === null || !active) return sleep(pollMs)
      const answer = await storage.claim(request)
      if (!active) return storage.release(answer.jobs)
      alone = 'recovered' in request && answer.jobs.length > 0
      for (const job of answer.jobs) run(job)
      learn(answer, request)
    } finally {
      lanes.giveBack()
    }
  }

  function run(job: ClaimedJob): void {
    const lane = lanes.get(job.lane)
    if (lane === undefined) return
    const end = lane
      .run(job)
      .catch(failed)
      .finally(() => {
        running.delete(end)
        wake()
      })
    running.add(end)
  }

  async function nextRequest(): Promise<ClaimRequest | null> {
    if (alone && running.size > 0) return null
    if (alone) giveOthersTheirTurn()
    const waiting = clock.monotonic() < othersUntil ? [] : recovered.filter(hasRoom)
    if (waiting.length > 0) {
      heldUpSince ??= clock.monotonic()
      if (running.size > 0) return null
      await lanes.prepare(waiting)
      const ready = waiting.filter((lane) => (lanes.get(lane)?.free() ?? 0) > 0)
      if (ready.length > 0) return { recovered: ready, leaseMs }
    }
    heldUpSince = null
    await lanes.prepare(due)
    return { lanes: lanes.demand(due), leaseMs }
  }

  /** As long as they were held up: many recovered jobs whose provider is slow must not stop everything else. */
  function giveOthersTheirTurn(): void {
    alone = false
    const now = clock.monotonic()
    othersUntil = now + (now - (heldUpSince ?? now))
    heldUpSince = null
  }

  function hasRoom(name: string): boolean {
    const lane = lanes.get(name)
    return lane !== undefined && (lane.room?.() ?? lane.free()) > 0
  }

  function learn(answer: ClaimAnswer, request: ClaimRequest): void {
    due = new Set(answer.lanes)
    // One that nobody got is another process' by now, and no reason to ask again at once.
    const taken = 'recovered' in request && answer.jobs.length === 0
    recovered = taken ? [] : answer.recoveredLanes
    const asked = 'lanes' in request ? new Set(request.lanes.map(({ lane }) => lane)) : new Set<string>()
    const more = [...due].some((lane) => hasRoom(lane) && (answer.jobs.length > 0 || !asked.has(lane)))
    // Nobody else has anything to do.
    if (!more && running.size === 0) othersUntil = Number.NEGATIVE_INFINITY
    if (more || (running.size === 0 && recovered.some(hasRoom))) again = true
    sleep(Math.min(pollMs, answer.nextDueInMs ?? pollMs))
  }

  function sleep(ms: number): void {
    cancelTimer()
    cancelTimer = clock.timer(Math.max(1, ms), () => wake())
  }

  return {
    wake,
    start() {
      active = true
      wake()
    },
    async stop() {
      active = false
      cancelTimer()
      await round
      cancelTimer()
    },
    async idle() {
      await Promise.all(running)
    },
  }
}
