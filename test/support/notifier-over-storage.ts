import { createNotifier } from '../../src/create-notifier.ts'
import { memoryStorage } from '../../src/memory/memory-storage.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import type { Telemetry } from '../../src/ports/telemetry.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'

/** A notifier that was not started, over a memory storage that counts its starts and stops.
 *
 * @param change methods that replace those of the storage
 */
export function notifierOverStorage(
  change: Partial<Storage> = {},
  channel = recordingProvider(),
  telemetry: readonly Telemetry[] = [],
) {
  const clock = fakeClock()
  const counts = { start: 0, stop: 0 }
  const inner = memoryStorage({ clock })
  const storage: Storage = {
    ...inner,
    async start() {
      counts.start += 1
    },
    async stop() {
      counts.stop += 1
    },
    ...change,
  }
  return {
    clock,
    counts,
    channel,
    notifier: createNotifier({ channels: { email: channel }, storage, clock, telemetry }),
  }
}
