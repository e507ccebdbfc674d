import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { Clock } from '../ports/clock.ts'
import type { LimitState } from '../ports/rate-limiter.ts'
import { type ProviderKeys, pauseCheck } from './provider-limits.ts'
import type { SharedLimits } from './shared-limits.ts'

/** Why a provider is paused. */
export interface PauseReason {
  readonly code: ErrorCode
  readonly message: string
}

/** The circuit breaker of a provider: its pauses after faults, shared by all processes of the limiter. */
export interface CircuitBreaker {
  /** Milliseconds left of the pause; 0: not paused. */
  leftMs(): number
  /** The pause is over, and one message must prove that the provider works. */
  probing(): boolean
  /** Not null: this process may send the probe. */
  probe(): string | null
  /** False: another process probes, and a timer is set for the next check. */
  open(): boolean
  /** Reason for the last pause. Null: only another process knows it. */
  reason(): PauseReason | null
  /** Reads the shared state, and asks to be the process that probes. Undefined: not needed. */
  ask(): Promise<void> | undefined
  /** While {@link probing}, checks whether a probe of another process succeeded. Undefined: not needed. */
  refresh(): Promise<void> | undefined
  /** Lets another process probe, unless `probe` is outdated. */
  release(probe: string | null): void
  /** True: the message proved that the provider works again after a pause. */
  succeeded(): boolean
  /** See `ProviderState.faulted`. @returns the length of the pause that begins; null: none does */
  faulted(pauseMs: number | null, reason: PauseReason): number | null
}

export interface CircuitBreakerOptions {
  readonly keys: ProviderKeys
  readonly limits: SharedLimits
  readonly clock: Clock
  /** The longest pause, for any reason. */
  readonly longestMs: number
  /** The longest duration of a message. */
  readonly sendMs: number
  wakeIn(ms: number): void
}

/** Transient faults in a row that open the circuit. */
const FAULTS_IN_A_ROW = 3
/** The first pause. */
const FIRST_PAUSE_MS = 1_000
/** The longest pause without a hint of the provider. */
const LONGEST_PAUSE_MS = 5 * 60_000
/** Age after which the shared state is read again on demand. At most the shortest pause. */
const LOOK_MS = 1_000
/** How long after a pause other processes must probe first. */
const PROBATION_MS = 5 * 60_000
/** Ends of pauses that differ by less are equal. Less than the shortest pause. */
const SAME_MS = 100

/**
 * A fault stores two pauses in the limiter: the pause itself and a longer probation. A success after it stores a third,
 * the proof, which ends after the probation; the probation of the next fault ends after that proof. So the later of the
 * two decides, and nothing has to be removed.
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
      // Only this process knows of it: the limiter was away.
    } else if (probationMs > proofMs + SAME_MS) pauses = Math.max(pauses, 1)
    else if (proofMs > 0) works()
  }

  function works(): void {
    release()
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
    // The other process may finish sooner than that.
    const waitMs = Math.min(Math.max(...states.map(({ retryAfterMs }) => retryAfterMs)), LOOK_MS)
    shutUntil = clock.monotonic() + waitMs
    wakeIn(waitMs)
  }

  function release(probe: string | null = token): void {
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
    release,
    succeeded() {
      // The success of a message that began before the fault proves nothing.
      if (leftMs() > 0) return false
      const proved = pauses > 0
      works()
      if (proved) limits.pause(keys.proof, PROBATION_MS)
      return proved
    },
    faulted(pauseMs, reason) {
      // Messages in flight together fail together: they count as one fault.
      if (leftMs() > 0) return null
      faults += 1
      if (pauseMs === null && pauses === 0 && faults < FAULTS_IN_A_ROW) return null
      release()
      const base = pauseMs ?? FIRST_PAUSE_MS
      const pausedMs = Math.min(longestMs, Math.max(base, Math.min(base * 2 ** pauses, LONGEST_PAUSE_MS)))
      pauses += 1
      why = reason
      pausedUntil = clock.monotonic() + pausedMs
      limits.pause(keys.probation, pausedMs + PROBATION_MS)
      limits.pause(keys.pause, pausedMs)
      wakeIn(pausedMs)
      return pausedMs
    },
  }
}
