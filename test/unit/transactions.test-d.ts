import type { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import type { drizzle } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type { Kysely, Transaction } from 'kysely'
import type pg from 'pg'
import { expectTypeOf, it } from 'vitest'
import { type PostgresTransaction, postgres } from '../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { EmailInput } from '../../src/core/channels/email-content.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'

const channels = { email: recordingProvider() }
type Channels = { readonly email: EmailInput }

const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const

it('a notifier takes the transactions of its storage, and no others', () => {
  const onPostgres = createNotifier({ channels, storage: postgres({ connectionString: '' }) })
  expectTypeOf(onPostgres).toEqualTypeOf<Notifier<PostgresTransaction, Channels>>()
  type Drizzle = ReturnType<typeof drizzle>
  type Handles = {
    client: pg.Client
    pooled: pg.PoolClient
    kysely: Transaction<{ orders: { id: string } }>
    drizzle: Parameters<Parameters<Drizzle['transaction']>[0]>[0]
    knex: Knex.Transaction
  }
  const handles = {} as Handles
  void onPostgres.send(message, { tx: handles.client })
  void onPostgres.send(message, { tx: handles.pooled })
  void onPostgres.send(message, { tx: handles.kysely })
  void onPostgres.sendBatch([message], { tx: handles.drizzle })
  void onPostgres.notifications.resend('notif_1', { tx: handles.knex })
  void onPostgres.notifications.cancel('notif_1', { tx: handles.kysely })
  void onPostgres.notifications.reschedule('notif_1', { sendAt: null }, { tx: handles.drizzle })
  // @ts-expect-error: each query of a pool runs somewhere else
  void onPostgres.notifications.cancel('notif_1', { tx: {} as pg.Pool })
  // @ts-expect-error: each query of a pool runs somewhere else
  void onPostgres.send(message, { tx: {} as pg.Pool })
  // @ts-expect-error: not in a transaction
  void onPostgres.send(message, { tx: {} as Kysely<Record<string, never>> })
  // @ts-expect-error: not in a transaction
  void onPostgres.send(message, { tx: {} as Drizzle })
  // @ts-expect-error: not in a transaction
  void onPostgres.send(message, { tx: {} as Knex })
  // @ts-expect-error: of another storage
  void onPostgres.send(message, { tx: () => {} })
  // @ts-expect-error: nothing is stored
  void onPostgres.validate(message, { tx: handles.client })
})

it('SQLite takes a synchronous function', () => {
  const onSqlite = createNotifier({ channels, storage: sqlite({ file: 'x' }) })
  void onSqlite.send(message, { tx: (database) => expectTypeOf(database).toEqualTypeOf<DatabaseSync>() })
  void onSqlite.send(message, { tx: (database) => database.prepare('DELETE FROM orders').run() })
  void onSqlite.notifications.cancel('notif_1', { tx: (database) => database.exec('DELETE FROM orders') })
  void onSqlite.send(message, {
    tx(database) {
      database.exec('DELETE FROM orders')
    },
  })
  // @ts-expect-error: SQLite commits when it returns
  void onSqlite.send(message, { tx: async () => {} })
  // @ts-expect-error: of another storage
  void onSqlite.send(message, { tx: {} as pg.Client })
})

it('SQLite with a driver hands over the open database of the driver', () => {
  const onDriver = createNotifier({ channels, storage: sqlite({ file: 'x', driver: Database }) })
  void onDriver.send(message, { tx: (database) => expectTypeOf(database).toEqualTypeOf<Database.Database>() })
  void onDriver.send(message, { tx: (database) => database.prepare('DELETE FROM orders').run() })
  // @ts-expect-error: SQLite commits when it returns
  void onDriver.send(message, { tx: async () => {} })
  // @ts-expect-error: an open database is no driver
  sqlite({ file: 'x', driver: new Database('x') })
})

it('without a storage there is none, and any notifier fits where none is needed', () => {
  const memory = createNotifier({ channels })
  expectTypeOf(memory).toEqualTypeOf<Notifier<never, Channels>>()
  // @ts-expect-error: it shares no transaction
  void memory.send(message, { tx: {} as pg.Client })
  // @ts-expect-error: it shares no transaction
  void memory.notifications.cancel('notif_1', { tx: {} as pg.Client })
  const used = (notifier: Notifier): Notifier => notifier
  used(createNotifier({ channels, storage: postgres({ connectionString: '' }) }))
  used(createNotifier({ channels, storage: sqlite({ file: 'x' }) }))
})

it('a storage that is chosen when the process runs shares no transaction', () => {
  const connectionString = process.env.DATABASE_URL
  const notifier = createNotifier({
    channels,
    storage: connectionString === undefined ? sqlite({ file: 'x' }) : postgres({ connectionString }),
  })
  expectTypeOf(notifier).toEqualTypeOf<Notifier<never, Channels>>()
  // @ts-expect-error: which of the two takes it is not known
  void notifier.send(message, { tx: {} as pg.Client })
})
