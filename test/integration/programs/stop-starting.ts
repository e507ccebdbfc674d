// A process that stops a notifier while it starts on a storage that does not answer, and says what became of both.
// Usage: node stop-starting.ts <options as JSON>
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { inMemory } from '../../support/in-memory.ts'

export interface StopStartingOptions {
  /** Of a server that takes connections and says nothing, for PostgreSQL; null: a storage that waits for nothing at all. */
  readonly port: number | null
}

const { port }: StopStartingOptions = JSON.parse(process.argv[2] ?? '')
const storage =
  port === null
    ? { ...inMemory(), start: () => new Promise<void>(() => {}) }
    : postgres({ connectionString: `postgres://app@127.0.0.1:${port}/app`, connectTimeoutMs: 3_000 })
const notifier = createNotifier({ channels: {}, storage })
const started = notifier.start().then(
  () => 'resolved',
  ({ code }) => code,
)
await notifier.stop({ timeoutMs: 100 })
process.stdout.write(`start: ${await started}\n`)
if (port === null) {
  // Pipes are this process' own output.
  const kept = process.getActiveResourcesInfo().filter((resource) => resource !== 'PipeWrap')
  process.stdout.write(`kept by ${kept.join() || 'nothing'}\n`)
}
