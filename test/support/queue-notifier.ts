import { onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { sharedPostgres, uniqueSchema } from './postgres.ts'

/** The tables of the storage. */
export const schema = uniqueSchema()

/** Polls do not happen within a test: the engine has brought what is delivered. */
export const NEVER_MS = 3_600_000

export const hello = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

export async function storage() {
  return postgres({ connectionString: await sharedPostgres(), schema, maxConnections: 4 })
}

/** A started notifier that stops with its test. */
export async function startNotifier(options: Partial<NotifierOptions>): Promise<Notifier> {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    delivery: { pollMs: NEVER_MS },
    ...options,
  })
  notifier.on('error', () => {})
  onTestFinished(() => notifier.stop({ timeoutMs: 1_000 }))
  await notifier.start()
  return notifier
}
