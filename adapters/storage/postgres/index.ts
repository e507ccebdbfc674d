import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { type PostgresOptions, resolveOptions } from './options.ts'
import { createStorage } from './storage.ts'
import type { PostgresTransaction } from './transaction-handles.ts'

export type { PostgresOptions, PostgresPool } from './options.ts'
export type {
  DrizzleTransaction,
  KnexTransaction,
  KyselyTransaction,
  PgTransaction,
  PostgresTransaction,
} from './transaction-handles.ts'

/**
 * Stores everything in PostgreSQL 13 or later, in its own schema, for any number of processes and machines. Uses a pool
 * of `pg`. See docs/tasks/scaling.md, and docs/understand/postgresql.md
 * for partitions and growth.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * const storage = postgres({ connectionString: process.env.DATABASE_URL ?? 'postgres://localhost/shop' })
 * const notifier = createNotifier({ storage, channels: { email: provider } })
 */
export function postgres(options: PostgresOptions): Storage<PostgresTransaction> {
  return createStorage(resolveOptions(options), () => null)
}
