import PQueue from 'p-queue'
import type { Clock } from '../../ports/clock.ts'
import type { Provider } from '../providers.ts'
import type { ProviderHealth } from '../records.ts'

/** A provider at work: its slots, and its rest after faults of its own. */
export interface ProviderState {
  readonly provider: Provider
  /** Slots that may be filled now. 0 while it rests; 1 for the probe that follows. */
  free(): number
  /** True while it rests. */
  paused(): boolean
  /** Runs a task in one of the slots; settles with it. */
  run(task: () => Promise<void>): Promise<void>
  /** The provider answered for itself: it works. */
  succeeded(): void
  /**
   * A fault of the provider or of our account with it: it rests for `pauseMs`, longer with each rest in a row.
   * Null, a passing fault: it rests from the third in a row.
   */
  faulted(pauseMs: number | null): void
  health(): ProviderHealth
}

/** Passing faults in a row, with no success between, that open the circuit. */
const FAULTS_IN_A_ROW = 3
/** The first rest after them. */
const FIRST_REST_MS = 1_000

/** The longest rest that no hint of the provider asked for. */
const LONGEST_REST_MS = 5 * 60_000

/**
 * Bounds one provider's concurrency, so that a slow one holds up only itself, and pauses it after faults of its own,
 * so that an outage does not burn the attempts of every message that waits (DESIGN.md §5, `scope`).
 *
 * @param available is called when a rest is over
 */
export function createProviderState(provider: Provider, clock: Clock, available: () => void): ProviderState {
  const queue = new PQueue({ concurrency: provider.maxConcurrent })
  let faults = 0
  let rests = 0
  let restsUntil = 0

  const busy = (): number => queue.size + queue.pending
  const paused = (): boolean => clock.monotonic() < restsUntil

  return {
    provider,
    paused,
    free() {
      if (paused()) return 0
      return Math.max(0, (rests > 0 ? 1 : provider.maxConcurrent) - busy())
    },
    run(task) {
      return queue.add(task)
    },
    succeeded() {
      faults = 0
      rests = 0
    },
    faulted(pauseMs) {
      // Messages that were under way together fail together; they are one fault.
      if (paused()) return
      faults += 1
      if (pauseMs === null && rests === 0 && faults < FAULTS_IN_A_ROW) return
      const base = pauseMs ?? FIRST_REST_MS
      const restMs = Math.max(base, Math.min(base * 2 ** rests, LONGEST_REST_MS))
      rests += 1
      restsUntil = clock.monotonic() + restMs
      clock.timer(restMs, available)
    },
    health: () => ({
      channel: provider.channel,
      name: provider.name,
      state: paused() ? 'paused' : rests > 0 ? 'probing' : 'ready',
      running: busy(),
    }),
  }
}
