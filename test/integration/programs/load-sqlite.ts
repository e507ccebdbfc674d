/** Says what a process notices of the runtime's SQLite before and after a storage starts. */
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { isNotifierError } from '../../../src/domain/errors/notifier-error.ts'

export interface LoadOptions {
  readonly database: string
}

const options: LoadOptions = JSON.parse(process.argv[2] ?? '{}')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const loaded: unknown = Reflect.get(process, 'moduleLoadList')
const isLoaded = (): boolean => (loaded as readonly string[]).some((name) => name.includes('sqlite'))

const { emitWarning } = process
process.on('warning', ({ name, message }) => say(`${name}: ${message}`))
const storage = sqlite({ file: options.database })
say(`loaded before the start: ${isLoaded()}`)
try {
  await storage.start()
  say(`loaded after the start: ${isLoaded()}`)
  await storage.stop()
} catch (error) {
  if (!isNotifierError(error)) throw error
  say(`${error.code}: ${error.message}`)
}
say(`emitWarning is its own: ${process.emitWarning === emitWarning}`)
