import pg from 'pg'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { describeWith } from './left-out.ts'
import { onPostgres, sharedServer, uniqueSchema, whyNoPostgres } from './postgres.ts'

/**
 * A server that the tests of one file have to themselves while they run. What a test opens on it closes when the test ends.
 *
 * @param settings lines of postgresql.conf; with any, it is of this file alone
 */
export function ownPostgres(settings: readonly string[] = []) {
  let started: PostgresServer | undefined
  beforeAll(async () => {
    if (whyNoPostgres(true) !== null) return
    started = settings.length === 0 ? await sharedServer() : await startPostgres(settings)
  })
  afterAll(async () => {
    if (settings.length > 0) await started?.remove()
  })
  const running = (): PostgresServer => {
    if (started === undefined) throw new Error('The server starts before the first test.')
    return started
  }
  return {
    get url() {
      return running().url
    },
    get port() {
      return running().port
    },
    async crash(): Promise<void> {
      await running().stop('immediate')
      await running().start()
    },
    /** A storage with a pool of its own, as in another process. */
    async open(schema: string = uniqueSchema(), options: object = {}): Promise<Storage> {
      const storage = postgres({ connectionString: running().url, schema, ...options })
      onTestFinished(() => storage.stop())
      await storage.start()
      return storage
    },
    pool(max: number): pg.Pool {
      const pool = new pg.Pool({ connectionString: running().url, max })
      onTestFinished(() => pool.end())
      return pool
    },
    /** Whether a transaction waits for a lock of another one. */
    async lockAwaited(): Promise<boolean> {
      const { rows } = await onPostgres(running().url, (client) =>
        client.query('SELECT 1 FROM pg_locks WHERE NOT granted'),
      )
      return rows.length > 0
    },
  }
}

/** A suite that needs `ownPostgres`. */
export function describeWithOwnPostgres(name: string, tests: () => void): void {
  describeWith(whyNoPostgres(true), name, tests)
}
