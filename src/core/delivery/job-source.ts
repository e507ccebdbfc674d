import type { ClaimAnswer, ClaimedJob, ClaimRequest, LaneDemand } from '../ports/storage/claim.ts'
import { hasRoom, type Lanes } from './lane.ts'

/** Decides what to claim next, apart from recovered jobs. */
export interface JobSource {
  /** Jobs of a lane may be due. */
  wake(lane: string): void
  /** The known lanes with work to claim. */
  due(): ReadonlySet<string>
  /**
   * The next claim. A number: none for this many milliseconds. Null: a claim would find nothing new.
   *
   * @param news jobs may have become due since the last claim
   */
  next(news: boolean): Promise<ClaimRequest | number | null>
  /** Learns from an answer, also one about recovered jobs. @returns whether another claim is worth it at once */
  learn(answer: ClaimAnswer, request: ClaimRequest): boolean
  /** Longest time until the next claim, in milliseconds. */
  waitMs(answer?: ClaimAnswer): number
  /** The claim is over: answered, failed or given up. */
  over?(failed: boolean): void
  close?(): void
}

/** Lanes with work, learned from wakes and from answers of claims. */
export interface DueLanes extends JobSource {
  /** Lanes are known to have work. */
  add(lanes: Iterable<string>): void
  /** Whether a known lane has room. */
  hasWork(): boolean
  request(): Promise<ClaimRequest & { readonly lanes: readonly LaneDemand[] }>
  /** Forgets which lanes were woken before now. */
  forgetWoken(): void
  /** @param counts false: a lane of the answer is not taken as due */
  learn(answer: ClaimAnswer, request: ClaimRequest, counts?: (lane: string) => boolean): boolean
}

/** Claims the due jobs of lanes, as far as there are free slots. */
export function createDueLanes(lanes: Lanes, leaseMs: number, pollMs: number): DueLanes {
  let due = new Set<string>()
  /** Lanes woken since the last claim began. An answer may not know their jobs yet. */
  const woken = new Set<string>()
  /** Empty slots of shared lanes that a claim has left: no organization with jobs may have more of them. */
  const left = new Map<string, number>()

  const roomIn = (lane: string): boolean => hasRoom(lanes, lane)

  async function request(): ReturnType<DueLanes['request']> {
    await lanes.prepare(due)
    return { lanes: lanes.demand(due), leaseMs }
  }

  /** True: no slot may be filled, and more jobs are due than there are slots. */
  function isPointless(asked: readonly LaneDemand[]): boolean {
    return due.size > 0 && asked.every(({ lane, shared }) => (shared?.empty ?? 1) <= (left.get(lane) ?? 0))
  }

  function learnLeft({ lane, free, shared }: LaneDemand, jobs: readonly ClaimedJob[]): void {
    left.delete(lane)
    if (shared === undefined || shared.exempt !== null) return
    const taken = jobs.filter((job) => job.lane === lane).length
    if (taken < free) left.set(lane, shared.empty - taken)
  }

  return {
    add(names) {
      for (const lane of names) due.add(lane)
    },
    wake(lane) {
      due.add(lane)
      woken.add(lane)
    },
    due: () => due,
    hasWork: () => [...due].some(roomIn),
    forgetWoken: () => woken.clear(),
    request,
    async next(news) {
      const claim = await request()
      if (!news && isPointless(claim.lanes)) return null
      woken.clear()
      return claim
    },
    learn({ lanes: claimable, jobs }, request, counts = () => true) {
      due = new Set([...claimable.filter(counts), ...woken])
      const asked = 'lanes' in request ? request.lanes : []
      for (const demand of asked) learnLeft(demand, jobs)
      // About jobs that are gone. Later ones may be due, and no call may announce their lane.
      for (const lane of left.keys()) if (!due.has(lane)) left.delete(lane)
      const names = new Set(asked.map(({ lane }) => lane))
      const worthAsking = (lane: string): boolean => !names.has(lane) || (jobs.length > 0 && !left.has(lane))
      return [...due].some((lane) => roomIn(lane) && worthAsking(lane))
    },
    waitMs: (answer) => Math.min(pollMs, answer?.nextDueInMs ?? pollMs),
  }
}
