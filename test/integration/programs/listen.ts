// A process that delivers, and listens to the events of all organizations, until it is killed. Lines of a file say what
// its listener has begun and done.
// Usage: node listen.ts <options as JSON>
import { appendFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface ListenProgramOptions {
  readonly location: StorageLocation
  readonly file: string
  /** Milliseconds that the listener takes. */
  readonly slowMs: number
  readonly leaseMs: number
  /** The event that ends the process. */
  readonly poison?: string
}

const options: ListenProgramOptions = JSON.parse(process.argv[2] ?? '')
// A process that is killed leaves nothing to the next one by itself.
flushCompileCache()

const notifier = createNotifier({
  channels: { email: { ...recordingProvider(), timeoutMs: options.leaseMs / 2 } },
  storage: openStorage(options.location),
  delivery: { leaseMs: options.leaseMs, pollMs: 50 },
})
await notifier.allOrganizations.listen('mirror', async (_event, { id, attempt }) => {
  appendFileSync(options.file, `begun ${id} ${attempt}\n`)
  if (id === options.poison) process.exit(13)
  await new Promise((resolve) => setTimeout(resolve, options.slowMs))
  appendFileSync(options.file, `done ${id} ${attempt}\n`)
})
await notifier.start()
process.once('SIGTERM', () => void notifier.stop())
process.stdout.write('started\n')
