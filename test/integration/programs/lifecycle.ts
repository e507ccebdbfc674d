// A process that starts a notifier and says what happens; whether it ends by itself is what the test looks at.
// Usage: node lifecycle.ts <options as JSON>
import { sqliteStorage } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'

export interface LifecycleOptions {
  readonly database: string
  readonly stop: boolean
  readonly deliver: boolean
}

const { database, stop, deliver }: LifecycleOptions = JSON.parse(process.argv[2] ?? '')
const notifier = createNotifier({
  channels: { email: { name: 'none', channel: 'email', send: async () => ({ kind: 'accepted' }) } },
  storage: sqliteStorage({ file: database }),
})
await notifier.start({ deliver })
await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
process.stdout.write('sent\n')
if (stop) {
  await notifier.stop()
  process.stdout.write('stopped\n')
}
