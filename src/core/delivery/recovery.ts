import type { Clock } from '../ports/clock.ts'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../ports/storage/claim.ts'
import { hasRoom, type Lanes } from './lane.ts'

/** Claims recovered jobs, whose last attempt ended with its process: one at a time, and alone at first. */
export interface Recovery {
  /**
   * The next claim of a recovered job. A number: no claim at all for this many milliseconds, unless a job ends. Null:
   * other jobs may run.
   */
  next(): Promise<ClaimRequest | number | null>
  /** A recovered job has begun. @param end resolves when it ends */
  began(job: ClaimedJob, end: Promise<void>): void
  /** @param othersWait other jobs can be claimed */
  learn(answer: ClaimAnswer, request: ClaimRequest, othersWait: boolean): void
  /** Milliseconds until the next recovered job may be claimed. Infinity: none is known that could run. */
  turnInMs(): number
  /** Whether the end of a job may allow another claim. */
  waits(): boolean
}

/**
 * A message that kills its process usually does so at once. So a recovered job runs alone for this time after its first
 * attempt, and twice as long after each further one. Jobs that have been running longer than that are not suspects.
 */
const ALONE_MS = 1_000
const LONGEST_ALONE_MS = 8_000

/** All times are monotonic. */
type Turn =
  /** Other jobs run; before `until` no recovered one does. */
  | { readonly kind: 'others'; readonly until: number }
  /** A recovered job waits until the others have run long enough. It has blocked new ones since then. */
  | { readonly kind: 'waiting'; readonly since: number }
  /** A recovered job runs alone. Other jobs have waited since then. */
  | {
      readonly kind: 'alone'
      readonly since: number
      readonly end: Promise<void>
      readonly until: number
    }

const OTHERS: Turn = { kind: 'others', until: Number.NEGATIVE_INFINITY }

/** @param running the running jobs with the time of their claim */
export function createRecovery(
  lanes: Lanes,
  clock: Clock,
  leaseMs: number,
  running: ReadonlyMap<Promise<void>, number>,
): Recovery {
  /** The lanes with recovered jobs. */
  let known: readonly string[] = []
  let turn = OTHERS

  const roomy = (): readonly string[] => known.filter((lane) => hasRoom(lanes, lane))

  async function request(now: number): ReturnType<Recovery['next']> {
    const waiting = roomy()
    if (waiting.length === 0) return null
    turn = { kind: 'waiting', since: turn.kind === 'waiting' ? turn.since : now }
    const youngMs = Math.max(Number.NEGATIVE_INFINITY, ...running.values()) + ALONE_MS - now
    if (youngMs > 0) return youngMs
    await lanes.prepare(waiting)
    const recovered = waiting.filter((lane) => (lanes.get(lane)?.free() ?? 0) > 0)
    return recovered.length === 0 ? null : { recovered, leaseMs }
  }

  return {
    async next() {
      const now = clock.monotonic()
      if (turn.kind === 'alone') {
        const leftMs = running.has(turn.end) ? turn.until - now : 0
        if (leftMs > 0) return leftMs
        // For as long as they had to wait, because many recovered jobs of a slow provider must not block everything.
        turn = { kind: 'others', until: now + (now - turn.since) }
      }
      const claim = turn.kind === 'others' && now < turn.until ? null : await request(now)
      if (claim === null && turn.kind === 'waiting') turn = OTHERS
      return claim
    },
    began(job, end) {
      const now = clock.monotonic()
      const since = turn.kind === 'waiting' ? turn.since : now
      turn = { kind: 'alone', since, end, until: now + aloneMs(job) }
    },
    learn({ jobs, recoveredLanes }, request, othersWait) {
      // If no job came, another process has it: no reason to ask again at once.
      known = 'recovered' in request && jobs.length === 0 ? [] : recoveredLanes
      if (turn.kind === 'others' && !othersWait && running.size === 0) turn = OTHERS
    },
    turnInMs() {
      if (roomy().length === 0) return Number.POSITIVE_INFINITY
      return turn.kind === 'others' ? Math.max(0, turn.until - clock.monotonic()) : 0
    },
    waits: () => turn.kind === 'alone' || known.length > 0,
  }
}

/** Outages and attempts before a retry say nothing about the message. */
function aloneMs({ attempts, outages, earlierAttempts }: ClaimedJob): number {
  const own = attempts - outages - earlierAttempts
  return Math.min(ALONE_MS * 2 ** Math.max(0, own - 1), LONGEST_ALONE_MS)
}
