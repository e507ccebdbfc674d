import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LimitState } from '../../ports/rate-limiter.ts'
import { type ProviderKeys, pauseCheck } from './provider-limits.ts'
import type { SharedLimits } from './shared-limits.ts'

/** Why a provider is paused. */
export interface PauseReason {
  readonly code: ErrorCode
  readonly message: string
}

/** The circuit breaker of one provider: its pauses after faults of its own, known to all processes that share the limiter. */
export interface CircuitBreaker {
  /** Milliseconds that it is still paused; 0: it is not. */
  leftMs(): number
  /** The pause is over, and it has to prove by one message that it works. */
  probing(): boolean
  /** Not null: this process may send that message. */
  probe(): string | null
  /** False: another process does, and will not be asked about before a time that is timed. */
  open(): boolean
  /** Why it is or was paused; null: another process knows. */
  reason(): PauseReason | null
  /** Learns what other processes know, and asks to be the one that tries; undefined: nothing to ask. */
  ask(): Promise<void> | undefined
  /** While it is {@link probing}, learns whether another process has proved that it works; undefined: nothing to ask. */
  refresh(): Promise<void> | undefined
  /** Lets another process try, unless `probe` is no longer what {@link probe} answers. */
  letGo(probe: string | null): void
  succeeded(): void
  /** As `ProviderState.faulted`. */
  faulted(pauseMs: number | null, reason: PauseReason): void
}

export interface CircuitBreakerOptions {
  readonly keys: ProviderKeys
  readonly limits: SharedLimits
  readonly clock: Clock
  /** The longest pause, whoever asks for it. */
  readonly longestMs: number
  /** The longest time that one message can be under way. */
  readonly sendMs: number
  wakeIn(ms: number): void
  /** This process met the fault that a pause of `forMs` follows from. */
  paused(reason: PauseReason, forMs: number): void
  /** A message of this process has proved that it works again. */
  resumed(): void
}

/** Passing faults in a row, with no success between, that open the circuit. */
const FAULTS_IN_A_ROW = 3
/** The first pause after them. */
const FIRST_PAUSE_MS = 1_000
/** The longest pause that no hint of the provider asked for. */
const LONGEST_PAUSE_MS = 5 * 60_000
/** What other processes know is looked up again after this time, when it is needed. No longer than the shortest pause. */
const LOOK_MS = 1_000
/** How long after a pause processes that knew nothing of it are told to try first. */
const PROBATION_MS = 5 * 60_000
/** Two ends of pauses that are nearer together are one. Less than the shortest pause. */
const SAME_MS = 100

/**
 * A fault makes two pauses in the limiter: the pause itself, and a longer probation. A success after the pause makes a third, the
 * proof, which ends later than the probation; so does the probation of the next fault end later than that proof. Hence
 * the later of the two says which holds, and nothing has to be taken back.
 */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { keys, limits, clock, longestMs, sendMs, wakeIn } = options
  let faults = 0
  let pauses = 0
  let pausedUntil = 0
  let why: PauseReason | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let token: string | null = null
  let shutUntil = 0

  const leftMs = (): number => Math.max(0, pausedUntil - clock.monotonic())
  const probing = (): boolean => pauses > 0 && leftMs() === 0

  function learn([pause, probation, proof]: readonly LimitState[]): void {
    const [pausedMs, probationMs, proofMs] = [pause, probation, proof].map(
      (state) => state?.retryAfterMs ?? 0,
    ) as [number, number, number]
    if (pausedMs > 0) {
      const until = clock.monotonic() + pausedMs
      if (until < pausedUntil + SAME_MS) return
      pauses += 1
      why = null
      pausedUntil = until
      wakeIn(pausedMs)
    } else if (leftMs() > 0) {
      // Only this process knows: the limiter was away.
    } else if (probationMs > proofMs + SAME_MS) pauses = Math.max(pauses, 1)
    else if (proofMs > 0) works()
  }

  function works(): void {
    letGo()
    faults = 0
    pauses = 0
    why = null
  }

  async function look(): Promise<void> {
    lookedAt = clock.monotonic()
    const { states } = await limits.peek([keys.pause, keys.probation, keys.proof].map(pauseCheck))
    learn(states)
  }

  async function apply(): Promise<void> {
    const mine = randomUUID()
    const slot = { kind: 'slots', key: keys.probe, limit: 1, token: mine, leaseMs: sendMs } as const
    const { allowed, states } = await limits.consume([pauseCheck(keys.pause), slot])
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
      const proved = pauses > 0
      works()
      if (!proved) return
      limits.pause(keys.proof, PROBATION_MS)
      options.resumed()
    },
    faulted(pauseMs, reason) {
      // Messages that were under way together fail together; they are one fault.
      if (leftMs() > 0) return
      faults += 1
      if (pauseMs === null && pauses === 0 && faults < FAULTS_IN_A_ROW) return
      letGo()
      const base = pauseMs ?? FIRST_PAUSE_MS
      const pausedMs = Math.min(longestMs, Math.max(base, Math.min(base * 2 ** pauses, LONGEST_PAUSE_MS)))
      pauses += 1
      why = reason
      pausedUntil = clock.monotonic() + pausedMs
      limits.pause(keys.probation, pausedMs + PROBATION_MS)
      limits.pause(keys.pause, pausedMs)
      wakeIn(pausedMs)
      options.paused(reason, pausedMs)
    },
  }
}
