import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterTurns } from '../loop/end-of-turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest, LaneDemand } from '../ports/storage/claim.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { Lanes } from './lane.ts'
import type { Offers, Taken } from './offers.ts'

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
 * A message that kills its process usually does so at once. So a recovered job runs alone for this time after its first
 * attempt, and twice as long after each further one. Jobs that have run longer beside it are innocent.
 */
const ALONE_MS = 1_000
const LONGEST_ALONE_MS = 8_000

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
  /** Lanes with work to claim; with a queue engine, only those with more jobs than it could hand over. */
  let due = new Set<string>()
  /** Lanes woken since the last claim began. */
  const woken = new Set<string>()
  /** Empty slots of shared lanes that a claim has left: no organization with jobs may have more of them. */
  const left = new Map<string, number>()
  let recovered: readonly string[] = []
  /** Running jobs with the time of their claim (monotonic). */
  const running = new Map<Promise<void>, number>()
  /** The last recovered job and until when it runs alone. Null: other jobs have run since. */
  let solitude: { readonly job: Promise<void>; readonly until: number } | null = null
  /** Since when other jobs wait for a recovered one. Null: none waits. */
  let heldUpSince: number | null = null
  /** Until this time other jobs go first. */
  let othersUntil = Number.NEGATIVE_INFINITY
  let active = false
  let round: Promise<void> | null = null
  let again = false
  /** True: new work may have arrived since the last claim. False: only a slot became free, or nothing happened. */
  let news = false
  let failures = 0
  /** Time of the next sweep for jobs that a queue engine lost. */
  let lookAt = Number.NEGATIVE_INFINITY
  let taken: Taken | null = null
  let tookOffers = false
  let cancelTimer = (): void => {}
  /** Delivery must not run in the async context or trace of the caller that wakes it. */
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
    if (!active || round !== null) return
    round = outside(rounds).finally(() => {
      round = null
      // Work arrived after the last look, before the loop ended.
      if (again && failures === 0) proceed()
    })
  }

  async function rounds(): Promise<void> {
    // One claim fills slots that become free at about the same time.
    await new Promise<void>((resolve) => afterTurns(CLAIM_AFTER_TURNS, resolve))
    for (let first = true; active && again; first = false) {
      // A synchronous storage would block the process.
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
    // With a queue engine this happened when the refs were taken.
    if (offers === undefined) woken.clear()
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

  /** The next claim; a number: none for this many milliseconds, unless a job ends. */
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

  /** A recovered job runs alone: it waits until no other job is young, and blocks new ones meanwhile. */
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

  /** True: no slot may be filled, and more jobs are due than there are slots, so the claim would learn nothing. */
  function isIdle(request: ClaimRequest | number): boolean {
    return (
      offers === undefined &&
      typeof request !== 'number' &&
      'lanes' in request &&
      request.lanes.every(({ lane, shared }) => (shared?.empty ?? 1) <= (left.get(lane) ?? 0)) &&
      due.size > 0
    )
  }

  /** Refs go to free slots at once, unless their lane has a backlog: then it continues round-robin. */
  async function takeOffers(offers: Offers): Promise<readonly string[]> {
    woken.clear()
    // The lanes go first: refs must not delay them.
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
  /** They arrived while other jobs went first. */
  const hasOffers = (): boolean => offers !== undefined && offers.lanes().length > 0
  const looks = (): boolean => clock.monotonic() >= lookAt
  const untilLook = (): number => (offers === undefined || looks() ? pollMs : lookAt - clock.monotonic())

  /** For as long as other jobs had to wait: many recovered jobs of a slow provider must not block everything. */
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
    // Lanes woken during the claim may be missing from its answer.
    for (const lane of woken) due.add(lane)
    if (offers === undefined) return
    // Other claimable jobs are on their way through the engine, unless they have been for long.
    if (looks()) lookAt = clock.monotonic() + pollMs
    else for (const lane of claimable) if (!known.has(lane) && !woken.has(lane)) due.delete(lane)
  }

  function learnLeft({ lane, free, shared }: LaneDemand, jobs: readonly ClaimedJob[]): void {
    left.delete(lane)
    if (shared === undefined || shared.exempt !== null) return
    const taken = jobs.filter((job) => job.lane === lane).length
    if (taken < free) left.set(lane, shared.empty - taken)
  }

  function hasMore({ jobs }: ClaimAnswer, asked: readonly LaneDemand[]): boolean {
    for (const demand of asked) learnLeft(demand, jobs)
    // Of jobs that are gone: it says nothing about later ones, which no call may announce by their lane.
    for (const lane of left.keys()) if (!due.has(lane)) left.delete(lane)
    const names = new Set(asked.map(({ lane }) => lane))
    const worthAsking = (lane: string): boolean => !names.has(lane) || (jobs.length > 0 && !left.has(lane))
    return [...due].some((lane) => hasRoom(lane) && worthAsking(lane))
  }

  function learn(answer: ClaimAnswer, request: ClaimRequest): void {
    learnLanes(answer.lanes)
    // If no job came, another process has it: no reason to ask again at once.
    const taken = 'recovered' in request && answer.jobs.length === 0
    recovered = taken ? [] : answer.recoveredLanes
    const more = hasMore(answer, 'lanes' in request ? request.lanes : [])
    // No other job waits.
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
    due: () => due,
  }
}

/** Outages and attempts before a retry say nothing about the message. */
function aloneMs({ attempts, outages, earlierAttempts }: ClaimedJob): number {
  const own = attempts - outages - earlierAttempts
  return Math.min(ALONE_MS * 2 ** Math.max(0, own - 1), LONGEST_ALONE_MS)
}
