import PQueue from 'p-queue'
import type { Clock } from '../../ports/clock.ts'
import type { ProviderHealth } from '../notifier.ts'
import type { Provider } from '../providers.ts'

/** A provider at work: its slots, and its rest after faults of its own. */
export interface ProviderState {
  readonly provider: Provider
  /** Slots that may be filled now. 0 while it rests; 1 for the probe that follows. */
  free(): number
  /** True while it rests. */
  paused(): boolean
  /** Runs a task in one of the slots. */
  run(task: () => Promise<void>): void
  /** The provider answered for itself: it works. */
  succeeded(): void
  /** A fault of the provider or of our account with it: it rests, longer with each fault in a row. */
  faulted(pauseMs: number): void
  health(): ProviderHealth
  /** Resolves when no task runs. */
  idle(): Promise<void>
}

/** The longest rest that no hint of the provider asked for. */
const LONGEST_REST_MS = 5 * 60_000

/**
 * Bounds one provider's concurrency, so that a slow one holds up only itself, and pauses it after faults of its own,
 * so that an outage does not burn the attempts of every message that waits (DESIGN.md §5, `scope`).
 *
 * @param available is called when slots may have become free
 */
export function createProviderState(provider: Provider, clock: Clock, available: () => void): ProviderState {
  const queue = new PQueue({ concurrency: provider.maxConcurrent })
  let faults = 0
  let restsUntil = 0

  const busy = (): number => queue.size + queue.pending
  const paused = (): boolean => clock.monotonic() < restsUntil

  return {
    provider,
    paused,
    free() {
      if (paused()) return 0
      return Math.max(0, (faults > 0 ? 1 : provider.maxConcurrent) - busy())
    },
    run(task) {
      void queue.add(task).finally(available)
    },
    succeeded() {
      faults = 0
    },
    faulted(pauseMs) {
      // Messages that were under way together fail together; they are one fault.
      if (paused()) return
      const restMs = Math.max(pauseMs, Math.min(pauseMs * 2 ** faults, LONGEST_REST_MS))
      faults += 1
      restsUntil = clock.monotonic() + restMs
      clock.timer(restMs, available)
    },
    health: () => ({
      channel: provider.channel,
      name: provider.name,
      state: paused() ? 'paused' : faults > 0 ? 'probing' : 'ready',
      running: busy(),
    }),
    idle: () => queue.onIdle(),
  }
}
