import type { Clock } from '../../ports/clock.ts'
import type { ClaimAnswer, ClaimRequest } from '../../ports/storage/claim.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Lanes } from './lane.ts'

/** Moves due jobs from the storage into free slots. */
export interface Dispatcher {
  /** Begins to claim. */
  start(): void
  /** Something may be due or a slot free; `lane` where it is known. Cheap to call often. */
  wake(lane?: string): void
  /** Claims nothing more. Resolves when a claim that was under way has been handed on. */
  stop(): Promise<void>
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
  let active = false
  let scheduled = false
  let round: Promise<void> | null = null
  let again = false
  let failures = 0
  let cancelTimer = (): void => {}

  function wake(lane?: string): void {
    if (lane !== undefined) due.add(lane)
    again = true
    if (!active || scheduled || round !== null) return
    scheduled = true
    // The end of the turn: slots that become free together are filled by one claim.
    setImmediate(() => {
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
    const request = nextRequest()
    // A recovered job runs alone: it waits until nothing else does, and meanwhile nothing else is taken.
    if (request === null) return sleep(pollMs)
    const answer = await storage.claim(request)
    for (const job of answer.jobs) lanes.get(job.lane)?.run(job)
    learn(answer, request)
  }

  function nextRequest(): ClaimRequest | null {
    if (recovered.length > 0) return lanes.running() > 0 ? null : { recovered, leaseMs }
    const demand = []
    for (const lane of due) {
      const free = lanes.get(lane)?.free() ?? 0
      if (free > 0) demand.push({ lane, free })
    }
    return { lanes: demand, leaseMs }
  }

  function learn(answer: ClaimAnswer, request: ClaimRequest): void {
    due = new Set(answer.lanes)
    recovered = answer.recoveredLanes.filter((lane) => lanes.get(lane) !== undefined)
    const asked = 'lanes' in request ? new Set(request.lanes.map(({ lane }) => lane)) : new Set<string>()
    const more = [...due].some(
      (lane) => (lanes.get(lane)?.free() ?? 0) > 0 && (answer.jobs.length > 0 || !asked.has(lane)),
    )
    if (more || (recovered.length > 0 && lanes.running() === 0)) again = true
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
  }
}
