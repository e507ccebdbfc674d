import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterTurns } from '../../coalesce/end-of-turn.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../ports/storage/claim.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Lanes } from './lane.ts'
import type { Offers, Taken } from './offers.ts'

/** Moves due jobs from the storage into free slots. */
export interface Dispatcher {
  /** Begins to claim. */
  start(): void
  /** Something may be due; `lane` where it is known. Cheap to call often. */
  wake(lane?: string): void
  /** A slot may have become free. Cheap to call often. */
  freed(): void
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
  /** Longest time between two looks for work that nobody told of. */
  readonly pollMs: number
  /** What a queue engine hands over; then only that, and what it left to its lanes, is claimed between two looks. */
  readonly offers?: Offers | undefined
  onError(error: unknown): void
}

/** A claim that failed is tried again after twice as much at first, however rare polls are: nobody else may come to wake it. */
const BACKOFF_MS = 1_000
/** The longest pause after claims that failed in a row. */
const LONGEST_BACKOFF_MS = 30_000

const CLAIM_AFTER_TURNS = 3

/**
 * What kills its process does so at once, as a rule. So a recovered job has the process for itself so long after its first
 * attempt, and twice as long after each further one of its own; what has run longer beside it is none of its neighbours.
 */
const ALONE_MS = 1_000
const LONGEST_ALONE_MS = 8_000

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
  offers,
  onError,
}: DispatcherOptions): Dispatcher {
  /** Lanes with work to claim; with a queue engine those alone that have more than it could hand over. */
  let due = new Set<string>()
  /** Those of them that have been named since the last claim began. */
  const woken = new Set<string>()
  let recovered: readonly string[] = []
  /** Jobs that have been claimed and not ended, and when they were; monotonic. */
  const running = new Map<Promise<void>, number>()
  /** The last recovered job, and until when nothing is claimed beside it; null: others have had their turn since. */
  let solitude: { readonly job: Promise<void>; readonly until: number } | null = null
  /** Since when others are held up for a recovered job; null: they are not. */
  let heldUpSince: number | null = null
  /** Until then it is the turn of others. */
  let othersUntil = Number.NEGATIVE_INFINITY
  let active = false
  let scheduled = false
  let round: Promise<void> | null = null
  let again = false
  /** Something may have come that the storage was not asked for yet; else a slot has become free, or not even that. */
  let news = false
  let failures = 0
  /** When to look for what a queue engine has lost. */
  let lookAt = Number.NEGATIVE_INFINITY
  let taken: Taken | null = null
  let tookOffers = false
  let cancelTimer = (): void => {}
  /** What delivery does belongs to no caller who happens to wake it, neither to their traces nor to their context. */
  const outside = AsyncLocalStorage.snapshot()

  function wake(lane?: string): void {
    if (lane !== undefined) {
      due.add(lane)
      woken.add(lane)
    }
    news = true
    proceed()
  }

  function proceed(): void {
    again = true
    if (!active || scheduled || round !== null) return
    scheduled = true
    // Slots that become free at about the same time are filled by one claim.
    outside(afterTurns, CLAIM_AFTER_TURNS, () => {
      scheduled = false
      round = rounds().finally(() => {
        round = null
        // It came when the last look had been taken, and this was not yet over.
        if (again && failures === 0) proceed()
      })
    })
  }

  async function rounds(): Promise<void> {
    for (let first = true; active && again; first = false) {
      // A storage that works synchronously would let nothing else of the process have a turn.
      if (!first) await nextTurn()
      again = false
      try {
        await claim()
        failures = 0
      } catch (error) {
        onError(error)
        failures += 1
        sleep(Math.min(Math.min(pollMs, BACKOFF_MS) * 2 ** failures, LONGEST_BACKOFF_MS))
        return
      }
    }
  }

  async function claim(): Promise<void> {
    try {
      await claimNext()
    } catch (error) {
      for (const lane of taken?.lanes ?? []) due.add(lane)
      throw error
    } finally {
      lanes.giveBack()
      taken?.over()
      taken = null
    }
  }

  async function claimNext(): Promise<void> {
    const told = news
    news = false
    const request = await nextRequest()
    if (!told && isIdle(request)) return
    if (!active) return
    if (typeof request === 'number') return sleep(Math.min(request, untilLook()))
    // With a queue engine they have been since its offers were looked at.
    if (offers === undefined) woken.clear()
    const asked = clock.monotonic()
    const answer = await storage.claim(request)
    if (!active) return storage.release(answer.jobs)
    const jobs = clock.monotonic() - asked < leaseMs / 3 ? answer.jobs : await stillLeased(answer.jobs)
    for (const job of jobs) run(job, 'recovered' in request)
    learn({ ...answer, jobs }, request)
  }

  /** Nobody renews leases before their claim is answered, and attempts may have begun with it. */
  async function stillLeased(jobs: readonly ClaimedJob[]): Promise<readonly ClaimedJob[]> {
    try {
      const alive = await storage.renew(jobs, leaseMs)
      return jobs.filter((_job, index) => alive[index] === true)
    } catch (error) {
      await storage.release(jobs)
      throw error
    }
  }

  function run(job: ClaimedJob, alone: boolean): void {
    const lane = lanes.get(job.lane)
    if (lane === undefined) return
    const ended = (): void => {
      running.delete(end)
      if (solitude !== null || recovered.length > 0) news = true
      proceed()
    }
    const end = lane.run(job).then(ended, (error) => {
      onError(error)
      ended()
    })
    const now = clock.monotonic()
    running.set(end, now)
    if (alone) solitude = { job: end, until: now + aloneMs(job) }
  }

  /** What to claim; a number: nothing for so many milliseconds, unless a job ends. */
  async function nextRequest(): Promise<ClaimRequest | number> {
    const now = clock.monotonic()
    if (solitude !== null) {
      const leftMs = running.has(solitude.job) ? solitude.until - now : 0
      if (leftMs > 0) return leftMs
      giveOthersTheirTurn()
    }
    const waiting = now < othersUntil ? [] : recovered.filter(hasRoom)
    const request = waiting.length === 0 ? null : await recoveredRequest(waiting)
    if (request !== null) return request
    heldUpSince = null
    return othersRequest()
  }

  /** A recovered job runs alone: it waits until nothing has just begun, and meanwhile nothing else is taken. */
  async function recoveredRequest(waiting: readonly string[]): Promise<ClaimRequest | number | null> {
    const now = clock.monotonic()
    heldUpSince ??= now
    const youngMs = Math.max(Number.NEGATIVE_INFINITY, ...running.values()) + ALONE_MS - now
    if (youngMs > 0) return youngMs
    await lanes.prepare(waiting)
    const ready = waiting.filter((lane) => (lanes.get(lane)?.free() ?? 0) > 0)
    return ready.length === 0 ? null : { recovered: ready, leaseMs }
  }

  const othersRequest = offers === undefined ? lanesRequest : () => offeredRequest(offers)

  async function offeredRequest(offers: Offers): Promise<ClaimRequest | number> {
    const ids = await takeOffers(offers)
    if (ids.length > 0) return { ids, leaseMs }
    return looks() || hasWork() ? lanesRequest() : untilLook()
  }

  async function lanesRequest(): Promise<ClaimRequest> {
    await lanes.prepare(due)
    return { lanes: lanes.demand(due), leaseMs }
  }

  /** It would only ask what is due, and that is known to be more than there are slots for. */
  function isIdle(request: ClaimRequest | number): boolean {
    return (
      offers === undefined &&
      typeof request !== 'number' &&
      'lanes' in request &&
      request.lanes.length === 0 &&
      due.size > 0
    )
  }

  /** What the engine hands over goes to free slots at once, unless its lane has a backlog: then that goes on in turns. */
  async function takeOffers(offers: Offers): Promise<readonly string[]> {
    woken.clear()
    // The lanes' turn: what is handed over does not keep them waiting.
    const ahead = !tookOffers || !hasWork()
    tookOffers = false
    if (!ahead) return []
    const offered = offers.lanes().filter((lane) => !due.has(lane))
    await lanes.prepare(offered)
    taken = offers.take(lanes.demand(offered))
    for (const lane of taken.left) due.add(lane)
    tookOffers = taken.ids.length > 0
    return taken.ids
  }

  const hasWork = (): boolean => [...due].some(hasRoom)
  /** It was the turn of others when they came. */
  const hasOffers = (): boolean => offers !== undefined && offers.lanes().length > 0
  const looks = (): boolean => clock.monotonic() >= lookAt
  const untilLook = (): number => (offers === undefined || looks() ? pollMs : lookAt - clock.monotonic())

  /** As long as they were held up: many recovered jobs whose provider is slow must not stop everything else. */
  function giveOthersTheirTurn(): void {
    solitude = null
    const now = clock.monotonic()
    othersUntil = now + (now - (heldUpSince ?? now))
    heldUpSince = null
  }

  function hasRoom(name: string): boolean {
    const lane = lanes.get(name)
    return lane !== undefined && (lane.room?.() ?? lane.free()) > 0
  }

  function learnLanes(claimable: readonly string[]): void {
    const known = due
    due = new Set(claimable)
    // What has become known while the storage was asked may be missing in its answer.
    for (const lane of woken) due.add(lane)
    lanes.found(due)
    if (offers === undefined) return
    // What else is claimable is on its way through the engine, unless it has been for long.
    if (looks()) lookAt = clock.monotonic() + pollMs
    else for (const lane of claimable) if (!known.has(lane) && !woken.has(lane)) due.delete(lane)
  }

  function learn(answer: ClaimAnswer, request: ClaimRequest): void {
    learnLanes(answer.lanes)
    // One that nobody got is another process' by now, and no reason to ask again at once.
    const taken = 'recovered' in request && answer.jobs.length === 0
    recovered = taken ? [] : answer.recoveredLanes
    const asked = 'lanes' in request ? new Set(request.lanes.map(({ lane }) => lane)) : new Set<string>()
    const more = [...due].some((lane) => hasRoom(lane) && (answer.jobs.length > 0 || !asked.has(lane)))
    // Nobody else has anything to do.
    if (!more && running.size === 0) othersUntil = Number.NEGATIVE_INFINITY
    const turnMs = recovered.some(hasRoom) ? othersUntil - clock.monotonic() : pollMs
    if (more || turnMs <= 0 || hasOffers()) again = true
    sleep(Math.min(turnMs > 0 ? turnMs : pollMs, untilDue(answer)))
  }

  function untilDue({ nextDueInMs }: ClaimAnswer): number {
    return offers === undefined ? Math.min(pollMs, nextDueInMs ?? pollMs) : untilLook()
  }

  function sleep(ms: number): void {
    cancelTimer()
    cancelTimer = clock.timer(Math.max(1, ms), () => wake())
  }

  return {
    wake,
    freed: proceed,
    start() {
      active = true
      wake()
    },
    async stop() {
      active = false
      cancelTimer()
      await round
      cancelTimer()
      offers?.close()
    },
    async idle() {
      await Promise.all(running.keys())
    },
  }
}

/** Outages, and what was before a retry, say nothing about the message. */
function aloneMs({ attempts, outages, earlierAttempts }: ClaimedJob): number {
  const own = attempts - outages - earlierAttempts
  return Math.min(ALONE_MS * 2 ** Math.max(0, own - 1), LONGEST_ALONE_MS)
}
