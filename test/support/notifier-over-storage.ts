import type { Storage } from '../../src/core/ports/storage/storage.ts'
import type { Telemetry } from '../../src/core/ports/telemetry.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { inMemory } from './in-memory.ts'

/**
 * A notifier that was not started, over a storage that counts its starts and stops.
 *
 * @param change methods that replace those of the storage, or a function that makes them; `start` starts it, too
 */
export function notifierOverStorage(
  change: Partial<Storage> | ((inner: Storage) => Partial<Storage>) = {},
  channel = recordingProvider(),
  telemetry: readonly Telemetry[] = [],
) {
  const clock = fakeClock()
  const counts = { start: 0, stop: 0 }
  const inner: Storage = inMemory(clock)
  const changed = typeof change === 'function' ? change(inner) : change
  const storage: Storage = {
    ...inner,
    async stop() {
      counts.stop += 1
    },
    ...changed,
    async start(given) {
      counts.start += 1
      await changed.start?.(given)
      await inner.start(given)
    },
  }
  return {
    clock,
    counts,
    inner,
    channel,
    notifier: createNotifier({ channels: { email: channel }, storage, clock, telemetry }),
  }
}
