import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Queue } from '../../src/core/ports/queue.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { QueueHarness } from '../../src/testing/queue/harness.ts'

/** Where the processes of a test find the engine. */
export type EnginePlace =
  | { readonly engine: 'none' }
  | { readonly engine: 'graphile-worker'; readonly connectionString: string; readonly schema: string }
  | { readonly engine: 'bullmq'; readonly url: string; readonly name: string }

/** Where they find the storage. */
export interface QueuePlace {
  readonly url: string
  readonly schema: string
  readonly queue: EnginePlace
}

function openQueue(place: EnginePlace): Queue | null {
  if (place.engine === 'none') return null
  if (place.engine === 'bullmq') return bullmqQueue({ url: place.url, name: place.name })
  const { connectionString, schema } = place
  // Retries and scheduled ones are looked for often, so that tests need not wait.
  return graphileWorkerQueue({ connectionString, schema, pollMs: 100 })
}

/** What all processes of a test share. */
export function atPlace({ url, schema, queue }: QueuePlace): Pick<QueueHarness, 'queue' | 'notifier'> {
  return {
    queue: () => openQueue(queue),
    notifier: (options) =>
      createNotifier({
        storage: postgres({ connectionString: url, schema, maxConnections: 4 }),
        ...options,
      }),
  }
}
