// A process that writes an order and accepts its notification, or moves it to now, in one transaction, and dies by its own
// hand: before the COMMIT, or right after it, before anybody was told.
// Usage: node transact.ts <options as JSON>
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import type { StorageLocation } from '../../support/faults/store.ts'

export interface TransactOptions {
  readonly location: StorageLocation
  readonly does: 'send' | 'move'
  readonly dies: 'before the commit' | 'after the commit'
}

const { location, does, dies }: TransactOptions = JSON.parse(process.argv[2] ?? '')
const message = { channel: 'email', to: 'ada@example.com', body: dies } as const
const channels = { email: recordingProvider() }
const say = (line: string): boolean => process.stdout.write(`${line}\n`)

/** Sends in the transaction, or moves what it has sent before. */
async function prepare<Tx>(notifier: Notifier<Tx>): Promise<(tx: Tx) => Promise<unknown>> {
  if (does === 'send') return (tx) => notifier.send(message, { tx, idempotencyKey: 'order' })
  const { id } = await notifier.send({ ...message, sendAt: new Date(Date.now() + 3_600_000) })
  return (tx) => notifier.notifications.reschedule(id, { sendAt: null }, { tx })
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

if ('sqlite' in location) {
  const notifier = createNotifier({ channels, storage: sqlite({ file: location.sqlite }) })
  await notifier.start({ deliver: false })
  new DatabaseSync(location.sqlite).exec('CREATE TABLE IF NOT EXISTS orders (id TEXT)')
  const run = await prepare(notifier)
  await run((database) => {
    database.prepare('INSERT INTO orders VALUES (?)').run(dies)
    say('accepted')
    if (dies === 'before the commit') die()
  })
  die()
} else {
  const { url: connectionString, schema } = location.postgres
  const storage = postgres({ connectionString, schema })
  const notifier = createNotifier({ channels, storage })
  await notifier.start({ deliver: false })
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(`CREATE TABLE IF NOT EXISTS "${schema}".orders (id text)`)
  const run = await prepare(notifier)
  await client.query('BEGIN')
  await client.query(`INSERT INTO "${schema}".orders VALUES ($1)`, [dies])
  await run(client)
  say('accepted')
  if (dies === 'before the commit') die()
  await client.query('COMMIT')
  die()
}
