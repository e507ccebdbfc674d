import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Queue } from '../../src/core/ports/queue.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { QueueHarness } from '../../src/testing/queue/harness.ts'

/** Where the processes of a test find the engine. */
export type EngineConnection =
  | { readonly engine: 'none' }
  | { readonly engine: 'graphile-worker'; readonly connectionString: string; readonly schema: string }
  | { readonly engine: 'bullmq'; readonly url: string; readonly name: string }

/** Where they find the storage. */
export interface QueueConnection {
  readonly url: string
  readonly schema: string
  readonly queue: EngineConnection
}

function openQueue(connection: EngineConnection): Queue | null {
  if (connection.engine === 'none') return null
  if (connection.engine === 'bullmq') return bullmqQueue({ url: connection.url, name: connection.name })
  const { connectionString, schema } = connection
  // Retries and scheduled ones are looked for often, so that tests need not wait.
  return graphileWorkerQueue({ connectionString, schema, pollMs: 100 })
}

/** What all processes of a test share. */
export function queueAt({ url, schema, queue }: QueueConnection): Pick<QueueHarness, 'queue' | 'notifier'> {
  return {
    queue: () => openQueue(queue),
    notifier: (options) =>
      createNotifier({
        storage: postgres({ connectionString: url, schema, maxConnections: 4 }),
        ...options,
      }),
  }
}
