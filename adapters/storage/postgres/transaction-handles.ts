import { NotifierError } from '../../../src/core/errors/notifier-error.ts'

/**
 * A client of `pg` with an open transaction, or any object whose `query` runs one statement inside a transaction and
 * returns its `rows`.
 */
export interface PgTransaction {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>
  /** Present on a `Pool`, whose queries run on arbitrary connections. */
  readonly totalCount?: never
}

/** The `trx` of Kysely on its PostgreSQL dialect. */
export interface KyselyTransaction {
  readonly isTransaction: true
  executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }>
}

/** The `tx` of Drizzle on node-postgres. */
export interface DrizzleTransaction {
  execute(query: string): PromiseLike<unknown>
  rollback(): never
}

/** The `trx` of Knex on PostgreSQL. */
export interface KnexTransaction {
  raw(sql: string): PromiseLike<unknown>
  isCompleted(): boolean
}

/** Values of `tx` for the PostgreSQL storage. The transaction must be open. */
export type PostgresTransaction = PgTransaction | KyselyTransaction | DrizzleTransaction | KnexTransaction

/** Runs one statement without parameters inside a transaction. */
export type RunText = (statement: string) => Promise<readonly unknown[]>

/** Members that identify a handle without loading its package. */
type Found = Partial<
  Record<'query' | 'executeQuery' | 'execute' | 'raw' | 'rollback' | 'isTransaction', unknown>
>

/** @throws NotifierError `invalid_transaction` for an unknown handle, or one without a transaction */
export function runOn(tx: PostgresTransaction): RunText {
  const run = runnerOf(tx)
  if (run !== null) return serialize(tx, run)
  throw new NotifierError('invalid_transaction', {
    message:
      'For the PostgreSQL storage "tx" is an open transaction: a client of pg after BEGIN, ' +
      'or what Kysely, Drizzle or Knex give to the callback of a transaction.',
    details: { reason: 'not_a_transaction' },
  })
}

/** The latest statement on each handle. Resolves when the statement ends. */
const latest = new WeakMap<object, Promise<unknown>>()

/** Runs one statement at a time per handle, as `pg` requires, even for concurrent sends. */
function serialize(tx: object, run: RunText): RunText {
  return (statement) => {
    const answer = (latest.get(tx) ?? Promise.resolve()).then(() => run(statement))
    latest.set(
      tx,
      answer.catch(() => {}),
    )
    return answer
  }
}

function runnerOf(tx: PostgresTransaction): RunText | null {
  if (tx === null || (typeof tx !== 'object' && typeof tx !== 'function')) return null
  const found: Found = tx
  const has = (name: keyof Found): boolean => typeof found[name] === 'function'
  if (has('executeQuery')) return found.isTransaction === true ? runOnKysely(tx as KyselyTransaction) : null
  if (has('raw')) {
    return found.isTransaction === true ? runOnOther((text) => (tx as KnexTransaction).raw(text)) : null
  }
  if (has('execute')) {
    return has('rollback') ? runOnOther((text) => (tx as DrizzleTransaction).execute(text)) : null
  }
  return has('query') ? runOnOther((text) => (tx as PgTransaction).query(text)) : null
}

function runOnOther(run: (statement: string) => PromiseLike<unknown>): RunText {
  return async (statement) => rowsOf(await run(statement))
}

/** A compiled Kysely query, built by hand to bypass plug-ins that rename columns. */
function runOnKysely(tx: KyselyTransaction): RunText {
  const plain =
    (tx as KyselyTransaction & { withoutPlugins?: () => KyselyTransaction }).withoutPlugins?.() ?? tx
  return async (sql) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
    const compiled = { sql, parameters: [], query, queryId: { queryId: 'carillon' } }
    return rowsOf(await plain.executeQuery(compiled as never))
  }
}

function rowsOf(result: unknown): readonly unknown[] {
  const rows = Array.isArray(result) ? result : (result as { readonly rows?: unknown } | undefined)?.rows
  if (Array.isArray(rows)) return rows
  throw new TypeError('The transaction returned no rows for a query.')
}
