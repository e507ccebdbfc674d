import { drizzle } from 'drizzle-orm/node-postgres'
import knexOf from 'knex'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { PostgresTransaction } from '../../adapters/storage/postgres/index.ts'

/** A way in which applications write in transactions. */
export interface Writer {
  readonly name: string
  /** Runs `work` in a transaction: commits when it resolves, rolls back when it rejects, and rejects with that. */
  transaction<Answer>(work: (tx: PostgresTransaction, run: Run) => Promise<Answer>): Promise<Answer>
  /** The same handle outside of a transaction; null: it is no handle at all. */
  readonly outside: unknown
  end(): Promise<void>
}

/** Runs one statement of the application's own in the same transaction. */
export type Run = (text: string) => Promise<unknown>

export function writers(connectionString: string): Writer[] {
  return [
    pgWriter(connectionString),
    kyselyWriter(connectionString, 'Kysely', []),
    kyselyWriter(connectionString, 'Kysely with renamed columns', [new CamelCasePlugin()]),
    drizzleWriter(connectionString, 'Drizzle', false),
    drizzleWriter(connectionString, 'Drizzle, nested', true),
    knexWriter(connectionString, 'Knex', false),
    knexWriter(connectionString, 'Knex, nested', true),
  ]
}

function pgWriter(connectionString: string): Writer {
  const pool = new pg.Pool({ connectionString })
  return {
    name: 'pg',
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const answer = await work(client, (text) => client.query(text))
        await client.query('COMMIT')
        return answer
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    outside: pool,
    end: () => pool.end(),
  }
}

/** Of an application that reads numbers in its own way. */
function poolWithParsers(connectionString: string): pg.Pool {
  const getTypeParser = (oid: number): unknown => (oid === 20 ? BigInt : (value: string) => value)
  return new pg.Pool({ connectionString, types: { getTypeParser } as never })
}

function kyselyWriter(connectionString: string, name: string, plugins: CamelCasePlugin[]): Writer {
  const pool = poolWithParsers(connectionString)
  const db = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }), plugins })
  const queryOf = (sql: string) =>
    ({
      sql,
      parameters: [],
      query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
      queryId: { queryId: 'test' },
    }) as const
  return {
    name,
    transaction: (work) =>
      db.transaction().execute((trx) => work(trx, (text) => trx.executeQuery(queryOf(text)))),
    outside: db,
    end: () => db.destroy(),
  }
}

function drizzleWriter(connectionString: string, name: string, nested: boolean): Writer {
  const pool = poolWithParsers(connectionString)
  const db = drizzle(pool)
  return {
    name,
    transaction: (work) =>
      db.transaction((outer) => {
        const inside = (tx: typeof outer) => work(tx, async (text) => tx.execute(text))
        return nested ? outer.transaction(inside) : inside(outer)
      }),
    outside: db,
    end: () => pool.end(),
  }
}

function knexWriter(connectionString: string, name: string, nested: boolean): Writer {
  const knex = knexOf({ client: 'pg', connection: connectionString })
  return {
    name,
    transaction: (work) =>
      knex.transaction((outer) => {
        const inside = (trx: typeof outer) => work(trx, async (text) => trx.raw(text))
        return nested ? outer.transaction(inside) : inside(outer)
      }),
    outside: knex,
    end: () => knex.destroy(),
  }
}
