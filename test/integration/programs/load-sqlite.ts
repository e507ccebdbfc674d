/** Says what a process notices of the runtime's SQLite before and after a notifier starts. */
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier, isNotifierError } from '../../../src/index.ts'

const storages = {
  default: () => undefined,
  file: (file: string) => sqlite({ file }),
  // Nothing listens there.
  postgres: () => postgres({ connectionString: 'postgres://127.0.0.1:1/none' }),
}

export interface LoadOptions {
  readonly storage: keyof typeof storages
  readonly file: string
}

const options: LoadOptions = JSON.parse(process.argv[2] ?? '{}')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const loaded: unknown = Reflect.get(process, 'moduleLoadList')
const isLoaded = (): boolean => (loaded as readonly string[]).some((name) => name.includes('sqlite'))

const { emitWarning } = process
process.on('warning', ({ name, message }) => say(`${name}: ${message}`))
const notifier = createNotifier({
  storage: storages[options.storage](options.file),
  channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
})
say(`loaded before the start: ${isLoaded()}`)
try {
  await notifier.start()
} catch (error) {
  if (!isNotifierError(error)) throw error
  say(`${error.code}: ${error.message}`)
}
say(`loaded after the start: ${isLoaded()}`)
await notifier.stop()
say(`emitWarning is its own: ${process.emitWarning === emitWarning}`)
