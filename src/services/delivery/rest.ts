import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LimitState } from '../../ports/rate-limiter.ts'
import { type ProviderKeys, pauseCheck } from './provider-limits.ts'
import type { SharedLimits } from './shared-limits.ts'

/** Why a provider rests. */
export interface RestReason {
  readonly code: ErrorCode
  readonly message: string
}

/** The rests of one provider after faults of its own, known to all processes that share the limiter. */
export interface Rest {
  /** Milliseconds that it still rests; 0: it does not. */
  leftMs(): number
  /** It has rested, and has to prove by one message that it works. */
  probing(): boolean
  /** Not null: this process may send that message. */
  probe(): string | null
  /** False: another process does, and will not be asked about before a time that is timed. */
  open(): boolean
  /** Why it rests or has rested; null: another process knows. */
  reason(): RestReason | null
  /** Learns what other processes know, and asks to be the one that tries; undefined: nothing to ask. */
  ask(): Promise<void> | undefined
  /** While it is {@link probing}, learns whether another process has proved that it works; undefined: nothing to ask. */
  refresh(): Promise<void> | undefined
  /** Lets another process try, unless `probe` is no longer what {@link probe} answers. */
  letGo(probe: string | null): void
  succeeded(): void
  /** As `ProviderState.faulted`. */
  faulted(pauseMs: number | null, reason: RestReason): void
}

export interface RestOptions {
  readonly keys: ProviderKeys
  readonly limits: SharedLimits
  readonly clock: Clock
  /** The longest rest, whoever asks for it. */
  readonly longestMs: number
  /** The longest time that one message can be under way. */
  readonly sendMs: number
  wakeIn(ms: number): void
  /** This process met the fault that a rest of `forMs` follows from. */
  paused(reason: RestReason, forMs: number): void
  /** A message of this process has proved that it works again. */
  resumed(): void
}

/** Passing faults in a row, with no success between, that open the circuit. */
const FAULTS_IN_A_ROW = 3
/** The first rest after them. */
const FIRST_REST_MS = 1_000
/** The longest rest that no hint of the provider asked for. */
const LONGEST_REST_MS = 5 * 60_000
/** What other processes know is looked up again after this time, when it is needed. No longer than the shortest rest. */
const LOOK_MS = 1_000
/** How long after a rest processes that knew nothing of it are told to try first. */
const PROBATION_MS = 5 * 60_000
/** Two ends of pauses that are nearer together are one. Less than the shortest rest. */
const SAME_MS = 100

/**
 * A fault makes two pauses in the limiter: the rest, and a longer probation. A success after the rest makes a third, the
 * proof, which ends later than the probation; so does the probation of the next fault end later than that proof. Hence
 * the later of the two says which holds, and nothing has to be taken back.
 */
export function createRest(options: RestOptions): Rest {
  const { keys, limits, clock, longestMs, sendMs, wakeIn } = options
  let faults = 0
  let rests = 0
  let restsUntil = 0
  let why: RestReason | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let token: string | null = null
  let shutUntil = 0

  const leftMs = (): number => Math.max(0, restsUntil - clock.monotonic())
  const probing = (): boolean => rests > 0 && leftMs() === 0

  function learn([rest, probation, proof]: readonly LimitState[]): void {
    const [restMs, probationMs, proofMs] = [rest, probation, proof].map(
      (state) => state?.retryAfterMs ?? 0,
    ) as [number, number, number]
    if (restMs > 0) {
      const until = clock.monotonic() + restMs
      if (until < restsUntil + SAME_MS) return
      rests += 1
      why = null
      restsUntil = until
      wakeIn(restMs)
    } else if (leftMs() > 0) {
      // Only this process knows: the limiter was away.
    } else if (probationMs > proofMs + SAME_MS) rests = Math.max(rests, 1)
    else if (proofMs > 0) works()
  }

  function works(): void {
    letGo()
    faults = 0
    rests = 0
    why = null
  }

  async function look(): Promise<void> {
    lookedAt = clock.monotonic()
    const { states } = await limits.peek([keys.rest, keys.probation, keys.proof].map(pauseCheck))
    learn(states)
  }

  async function apply(): Promise<void> {
    const mine = randomUUID()
    const slot = { kind: 'slots', key: keys.probe, limit: 1, token: mine, leaseMs: sendMs } as const
    const { allowed, states } = await limits.consume([pauseCheck(keys.rest), slot])
    if (allowed) {
      token = mine
      return
    }
    // Whoever has it may be done sooner than it can take at most.
    const waitMs = Math.min(Math.max(...states.map(({ retryAfterMs }) => retryAfterMs)), LOOK_MS)
    shutUntil = clock.monotonic() + waitMs
    wakeIn(waitMs)
  }

  function letGo(probe: string | null = token): void {
    if (token === null || probe !== token) return
    limits.release(keys.probe, token)
    token = null
  }

  const stale = (): boolean => clock.monotonic() - lookedAt >= LOOK_MS
  const applies = (): boolean => probing() && token === null && clock.monotonic() >= shutUntil

  return {
    leftMs,
    probing,
    probe: () => token,
    open: () => leftMs() === 0 && (!probing() || clock.monotonic() >= shutUntil),
    reason: () => why,
    ask() {
      if (leftMs() > 0 || token !== null || !(stale() || applies())) return undefined
      return (async () => {
        await look()
        if (applies()) await apply()
      })()
    },
    refresh: () => (probing() && token === null && stale() ? look() : undefined),
    letGo,
    succeeded() {
      // What was under way when the fault came proves nothing about the time after it.
      if (leftMs() > 0) return
      const proved = rests > 0
      works()
      if (!proved) return
      limits.pause(keys.proof, PROBATION_MS)
      options.resumed()
    },
    faulted(pauseMs, reason) {
      // Messages that were under way together fail together; they are one fault.
      if (leftMs() > 0) return
      faults += 1
      if (pauseMs === null && rests === 0 && faults < FAULTS_IN_A_ROW) return
      letGo()
      const base = pauseMs ?? FIRST_REST_MS
      const restMs = Math.min(longestMs, Math.max(base, Math.min(base * 2 ** rests, LONGEST_REST_MS)))
      rests += 1
      why = reason
      restsUntil = clock.monotonic() + restMs
      limits.pause(keys.probation, restMs + PROBATION_MS)
      limits.pause(keys.rest, restMs)
      wakeIn(restMs)
      options.paused(reason, restMs)
    },
  }
}
