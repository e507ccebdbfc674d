import { randomUUID } from 'node:crypto'
import type { ConfiguredProvider } from '../channels/providers.ts'
import type { AboutProvider, ProviderEvent } from '../notification/provider-event.ts'
import type { Clock } from '../ports/clock.ts'
import { createCircuitBreaker, type PauseReason } from './circuit-breaker.ts'
import type { ProviderHealth } from './model.ts'
import { createPace } from './pace.ts'
import { providerKeys } from './provider-limits.ts'
import { GRACE_MS } from './send-attempt.ts'
import type { SharedLimits } from './shared-limits.ts'
import { createSlots } from './slots.ts'
import type { Stop } from './stop.ts'
import type { Tally } from './tally.ts'

/** The state of a provider: slots, rate and circuit breaker. */
export interface ProviderState {
  readonly provider: ConfiguredProvider
  /** Number of messages that may be claimed now: 0 during a pause, 1 for a probe, limited by the rate. */
  free(): number
  /** The same for messages already claimed: unrecorded outcomes do not send them back. */
  takes(): number
  /** A claimed message may wait in a slot until the rate permits it. */
  waits(): boolean
  /** Number of empty slots that may be filled now or later, regardless of the rate; 0 during a pause. */
  empty(): number
  /** Number of used slots by organization. */
  readonly used: ReadonlyMap<string, number>
  /** Maximum of {@link free} after {@link prepare}. */
  room(): number
  /** Reads shared state before a claim. Undefined: not needed. */
  prepare(): Promise<void> | undefined
  /** Returns unused permits after a claim. */
  giveBack(): void
  /** Milliseconds left of the pause; 0: not paused. */
  pausedMs(): number
  /** Runs a task in a slot, and settles its ending after the slot is free. Resolves after both. */
  run<Ending>(
    organizationId: string,
    task: (pass: Pass) => Promise<Ending | null>,
    settle: (ending: Ending) => Promise<void>,
  ): Promise<void>
  /** The provider answered: it works. @returns the end of a pause, which was told; null: there was none */
  succeeded(): ProviderEvent | null
  /** The result is unknown, for example after a timeout. */
  unclear(): void
  /**
   * A fault of the provider or of the account: pauses it for `pauseMs`, longer after each pause in a row. Null, a
   * transient fault: pauses it from the third in a row.
   *
   * @returns the pause that begins, which was told; null: none does
   */
  faulted(pauseMs: number | null, reason: PauseReason): ProviderEvent | null
  health(): ProviderHealth
  /** After a pause, checks whether it has worked in another process. Undefined: not needed. Never rejects. */
  refresh(): Promise<void> | undefined
}

/** Waits right before the hand-over until the rate permits it. Undefined: it does. */
export type Pass = (stop: Stop) => Promise<void> | undefined

/** Attempts in a row with an unknown result after which a provider counts as not working. */
const UNCLEAR_IN_A_ROW = 3

export interface ProviderStateOptions {
  readonly clock: Clock
  readonly limits: SharedLimits
  /** The longest pause, for any reason. */
  readonly maxPauseMs: number
  /** A slot has become free. */
  available(): void
  /** A slot may become free after this time. */
  wakeIn(ms: number): void
  tell(event: ProviderEvent): void
}

/**
 * Limits a provider's concurrency, so that a slow one delays only itself, and its rate; pauses it after faults, so that
 * an outage does not use up the attempts of all waiting messages.
 *
 * @param together counts the used slots of all providers of a lane
 */
export function createProviderState(
  provider: ConfiguredProvider,
  options: ProviderStateOptions,
  together: Tally,
): ProviderState {
  const { clock, limits, wakeIn } = options
  const { channel, name, organizationId } = provider
  const capacity = createSlots(provider.maxConcurrent, options.available, together)
  const keys = providerKeys(provider)
  const breaker = createCircuitBreaker({
    keys,
    limits,
    clock,
    wakeIn,
    longestMs: options.maxPauseMs,
    sendMs: provider.timeoutMs + 2 * GRACE_MS,
  })
  const pace =
    provider.maxPerSecond === null
      ? null
      : createPace(keys.pace, provider.maxPerSecond, limits, clock, wakeIn)

  function slots(most = capacity.free()): number {
    return breaker.probing() ? Math.max(0, Math.min(1 - capacity.busy(), most)) : most
  }

  /** Not paused, and if a probe is needed, this process sends it. */
  const awake = (): boolean => breaker.open() && (!breaker.probing() || breaker.probe() !== null)

  function about(): AboutProvider {
    const timestamp = new Date(clock.now()).toISOString()
    return { id: `prov_${randomUUID()}`, channel, provider: name, organizationId, timestamp }
  }

  function told(event: ProviderEvent): ProviderEvent {
    options.tell(event)
    return event
  }

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
    takes: () => (awake() ? Math.min(slots(capacity.empty()), pace?.kept() ?? Number.POSITIVE_INFINITY) : 0),
    waits: () => awake() && pace?.open() === true && slots(capacity.empty()) > 0,
    empty: () => (awake() ? slots(capacity.empty()) : 0),
    used: capacity.used,
    prepare() {
      // Lanes that share it ask once: permits beyond its slots would count unused.
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
      if (capacity.busy() === 0) breaker.release(breaker.probe())
    },
    run(organizationId, task, settle) {
      const permit = pace?.take()
      const pass: Pass = (stop) => pace?.pass(permit, stop)
      const probe = breaker.probe()
      if (probe === null) return capacity.run(organizationId, () => task(pass), settle)
      // If the provider gave no answer, the next message probes.
      const probing = () => task(pass).finally(() => breaker.release(probe))
      return capacity.run(organizationId, probing, settle)
    },
    succeeded() {
      unclear = 0
      return breaker.succeeded() ? told({ event: 'provider.resumed', data: about() }) : null
    },
    unclear() {
      unclear += 1
    },
    faulted(pauseMs, reason) {
      unclear = 0
      const forMs = breaker.faulted(pauseMs, reason)
      return forMs === null
        ? null
        : told({ event: 'provider.paused', data: { ...about(), ...reason, forMs } })
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
        running: capacity.busy(),
      }
    },
  }
}
