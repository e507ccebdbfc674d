import type { ProviderEvent } from '../../domain/provider-event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConfiguredProvider } from '../providers.ts'
import { createCircuitBreaker, type PauseReason } from './circuit-breaker.ts'
import { createPace } from './pace.ts'
import { providerKeys } from './provider-limits.ts'
import type { ProviderHealth } from './records.ts'
import { GRACE_MS } from './send-attempt.ts'
import type { SharedLimits } from './shared-limits.ts'
import { createSlots, type Settle } from './slots.ts'
import type { Stop } from './stop.ts'

/** A provider at work: its slots, its pace, and its circuit breaker of its own. */
export interface ProviderState {
  readonly provider: ConfiguredProvider
  /** How many messages may be claimed for it now. 0 while it is paused; 1 for the probe that follows; no more than its pace permits. */
  free(): number
  /** The same for a message that is claimed already: too many outcomes that wait to be recorded do not send it back. */
  takes(): number
  /** A message that is claimed already may wait in a slot until the pace permits it. */
  waits(): boolean
  /** What {@link free} may become by {@link prepare}. */
  room(): number
  /** Asks what the processes share, before a claim; undefined: there is nothing to ask. */
  prepare(): Promise<void> | undefined
  /** After a claim: lets others have what it left. */
  giveBack(): void
  /** Milliseconds that it is still paused; 0: it is not. */
  pausedMs(): number
  /** Runs a task in one of the slots, and then what it gives back; settles with both. */
  run(task: (pass: Pass) => Promise<Settle | undefined>): Promise<void>
  /** The provider answered for itself: it works. */
  succeeded(): void
  /** Nobody knows what it did, as after a time-out. */
  unclear(): void
  /**
   * A fault of the provider or of our account with it: it is paused for `pauseMs`, longer with each pause in a row.
   * Null, a passing fault: it is paused from the third in a row.
   */
  faulted(pauseMs: number | null, reason: PauseReason): void
  health(): ProviderHealth
  /** After a pause, learns whether it has worked in another process since; undefined: nothing to learn. Never rejects. */
  refresh(): Promise<void> | undefined
}

/** Waits, right before the hand-over, until the pace permits it; undefined: it does. */
export type Pass = (stop: Stop) => Promise<void> | undefined

/** Attempts in a row with an unknown end after which a provider counts as not working. */
const UNCLEAR_IN_A_ROW = 3

export interface ProviderStateOptions {
  readonly clock: Clock
  readonly limits: SharedLimits
  /** The longest pause of a provider, whoever asks for it. */
  readonly maxPauseMs: number
  /** A slot has become free. */
  available(): void
  /** One may become free by time alone. */
  wakeIn(ms: number): void
  tell(event: ProviderEvent): void
}

/**
 * Bounds one provider's concurrency, so that a slow one holds up only itself; keeps its pace; and pauses it after faults
 * of its own, so that an outage does not burn the attempts of every message that waits.
 */
export function createProviderState(
  provider: ConfiguredProvider,
  options: ProviderStateOptions,
): ProviderState {
  const { clock, limits, wakeIn } = options
  const { channel, name, organizationId } = provider
  const places = createSlots(provider.maxConcurrent, options.available)
  const keys = providerKeys(provider)
  const about = { channel, provider: name, organizationId }
  const breaker = createCircuitBreaker({
    keys,
    limits,
    clock,
    wakeIn,
    longestMs: options.maxPauseMs,
    sendMs: provider.timeoutMs + 2 * GRACE_MS,
    paused: (reason, forMs) =>
      options.tell({ event: 'provider.paused', data: { ...about, ...reason, forMs } }),
    resumed: () => options.tell({ event: 'provider.resumed', data: about }),
  })
  const pace =
    provider.maxPerSecond === null
      ? null
      : createPace(keys.pace, provider.maxPerSecond, limits, clock, wakeIn)

  function slots(most = places.free()): number {
    return breaker.probing() ? Math.max(0, Math.min(1 - places.busy(), most)) : most
  }

  /** It is not paused, and if it has to prove that it works, this process is to try. */
  const awake = (): boolean => breaker.open() && (!breaker.probing() || breaker.probe() !== null)

  let unclear = 0
  let preparing: Promise<void> | undefined

  async function prepare(asked: Promise<void> | undefined): Promise<void> {
    await asked
    if (pace !== null && awake()) await pace.ask(slots())
  }

  return {
    provider,
    room: () => (breaker.open() && pace?.open() !== false ? slots() : 0),
    pausedMs: breaker.leftMs,
    free: () => (awake() ? Math.min(slots(), pace?.granted() ?? Number.POSITIVE_INFINITY) : 0),
    takes: () => (awake() ? Math.min(slots(places.empty()), pace?.kept() ?? Number.POSITIVE_INFINITY) : 0),
    waits: () => awake() && pace?.open() === true && slots(places.empty()) > 0,
    prepare() {
      // Lanes that share it ask once: permissions beyond its slots would go unused, and count.
      if (preparing !== undefined) return preparing
      if (slots() === 0) return undefined
      const asked = breaker.ask()
      if (asked === undefined && pace === null) return undefined
      preparing = prepare(asked).finally(() => {
        preparing = undefined
      })
      return preparing
    },
    giveBack() {
      if (places.busy() === 0) breaker.letGo(breaker.probe())
    },
    run(task) {
      const permit = pace?.take()
      const pass: Pass = (stop) => pace?.pass(permit, stop)
      const probe = breaker.probe()
      if (probe === null) return places.run(() => task(pass))
      return places.run(async () => {
        try {
          return await task(pass)
        } finally {
          // Where the provider gave no answer: the next message tries again.
          breaker.letGo(probe)
        }
      })
    },
    succeeded() {
      unclear = 0
      breaker.succeeded()
    },
    unclear() {
      unclear += 1
    },
    faulted(pauseMs, reason) {
      unclear = 0
      breaker.faulted(pauseMs, reason)
    },
    refresh: breaker.refresh,
    health: () => {
      const pausedMs = breaker.leftMs()
      return {
        channel,
        name,
        organizationId,
        state: pausedMs > 0 ? 'paused' : breaker.probing() ? 'probing' : 'ready',
        pausedUntil: pausedMs > 0 ? new Date(clock.now() + pausedMs).toISOString() : null,
        code: breaker.reason()?.code ?? (unclear >= UNCLEAR_IN_A_ROW ? 'delivery_unknown' : null),
        running: places.busy(),
      }
    },
  }
}
