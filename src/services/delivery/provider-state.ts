import type { ProviderEvent } from '../../domain/provider-event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConfiguredProvider } from '../providers.ts'
import { createPace } from './pace.ts'
import { providerKeys } from './provider-limits.ts'
import type { ProviderHealth } from './records.ts'
import { createRest, type RestReason } from './rest.ts'
import { GRACE_MS } from './send-attempt.ts'
import type { SharedLimits } from './shared-limits.ts'
import { createSlots, type Settle } from './slots.ts'
import type { Stop } from './stop.ts'

/** A provider at work: its slots, its pace, and its rest after faults of its own. */
export interface ProviderState {
  readonly provider: ConfiguredProvider
  /** How many messages may be claimed for it now. 0 while it rests; 1 for the probe that follows; no more than its pace permits. */
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
  /** Milliseconds that it still rests; 0: it does not. */
  restMs(): number
  /** Runs a task in one of the slots, and then what it gives back; settles with both. */
  run(task: (pass: Pass) => Promise<Settle | undefined>): Promise<void>
  /** The provider answered for itself: it works. */
  succeeded(): void
  /** Nobody knows what it did, as after a time-out. */
  unclear(): void
  /**
   * A fault of the provider or of our account with it: it rests for `pauseMs`, longer with each rest in a row.
   * Null, a passing fault: it rests from the third in a row.
   */
  faulted(pauseMs: number | null, reason: RestReason): void
  health(): ProviderHealth
  /** After a rest, learns whether it has worked in another process since; undefined: nothing to learn. Never rejects. */
  refresh(): Promise<void> | undefined
}

/** Waits, right before the hand-over, until the pace permits it; undefined: it does. */
export type Pass = (stop: Stop) => Promise<void> | undefined

/** Attempts in a row with an unknown end after which a provider counts as not working. */
const UNCLEAR_IN_A_ROW = 3

export interface ProviderStateOptions {
  readonly clock: Clock
  readonly limits: SharedLimits
  /** The longest rest of a provider, whoever asks for it. */
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
  const rest = createRest({
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
    return rest.probing() ? Math.max(0, Math.min(1 - places.busy(), most)) : most
  }

  /** It does not rest, and if it has to prove that it works, this process is to try. */
  const awake = (): boolean => rest.open() && (!rest.probing() || rest.probe() !== null)

  let unclear = 0
  let preparing: Promise<void> | undefined

  async function prepare(asked: Promise<void> | undefined): Promise<void> {
    await asked
    if (pace !== null && awake()) await pace.ask(slots())
  }

  return {
    provider,
    room: () => (rest.open() && pace?.open() !== false ? slots() : 0),
    restMs: rest.leftMs,
    free: () => (awake() ? Math.min(slots(), pace?.granted() ?? Number.POSITIVE_INFINITY) : 0),
    takes: () => (awake() ? Math.min(slots(places.empty()), pace?.kept() ?? Number.POSITIVE_INFINITY) : 0),
    waits: () => awake() && pace?.open() === true && slots(places.empty()) > 0,
    prepare() {
      // Lanes that share it ask once: permissions beyond its slots would go unused, and count.
      if (preparing !== undefined) return preparing
      if (slots() === 0) return undefined
      const asked = rest.ask()
      if (asked === undefined && pace === null) return undefined
      preparing = prepare(asked).finally(() => {
        preparing = undefined
      })
      return preparing
    },
    giveBack() {
      if (places.busy() === 0) rest.letGo(rest.probe())
    },
    run(task) {
      const permit = pace?.take()
      const pass: Pass = (stop) => pace?.pass(permit, stop)
      const probe = rest.probe()
      if (probe === null) return places.run(() => task(pass))
      return places.run(async () => {
        try {
          return await task(pass)
        } finally {
          // Where the provider gave no answer: the next message tries again.
          rest.letGo(probe)
        }
      })
    },
    succeeded() {
      unclear = 0
      rest.succeeded()
    },
    unclear() {
      unclear += 1
    },
    faulted(pauseMs, reason) {
      unclear = 0
      rest.faulted(pauseMs, reason)
    },
    refresh: rest.refresh,
    health: () => {
      const restMs = rest.leftMs()
      return {
        channel,
        name,
        organizationId,
        state: restMs > 0 ? 'paused' : rest.probing() ? 'probing' : 'ready',
        pausedUntil: restMs > 0 ? new Date(clock.now() + restMs).toISOString() : null,
        code: rest.reason()?.code ?? (unclear >= UNCLEAR_IN_A_ROW ? 'delivery_unknown' : null),
        running: places.busy(),
      }
    },
  }
}
