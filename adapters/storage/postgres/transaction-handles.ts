import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'

/**
 * A client of `pg` on which a transaction was begun; or anything whose `query` runs one statement inside a transaction
 * and answers its `rows`.
 */
export interface PgTransaction {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>
  /** A `Pool` has it, and runs each query somewhere else. */
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

/** What `tx` may be for the PostgreSQL storage; each must be open when it is given. */
export type PostgresTransaction = PgTransaction | KyselyTransaction | DrizzleTransaction | KnexTransaction

/** Runs one statement, which has no values, inside a transaction. */
export type RunText = (statement: string) => Promise<readonly unknown[]>

/** What may be found on a handle; nothing of these packages is loaded to tell them apart. */
type Found = Partial<
  Record<'query' | 'executeQuery' | 'execute' | 'raw' | 'rollback' | 'isTransaction', unknown>
>

/** @throws NotifierError `invalid_transaction` when it is none of those that are known, or no transaction */
export function runOn(tx: PostgresTransaction): RunText {
  const run = runnerOf(tx)
  if (run !== null) return inTurn(tx, run)
  throw new NotifierError('invalid_transaction', {
    message:
      'For the PostgreSQL storage "tx" is an open transaction: a client of pg after BEGIN, ' +
      'or what Kysely, Drizzle or Knex give to the callback of a transaction.',
    details: { reason: 'not_a_transaction' },
  })
}

/** The latest statement on each handle, ended when it resolves. */
const latest = new WeakMap<object, Promise<unknown>>()

/** One statement at a time on a handle, as `pg` wants it, also when several sends are asked for at once. */
function inTurn(tx: object, run: RunText): RunText {
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

/** A compiled query of Kysely, made by hand; without plug-ins, which rename columns. */
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
  throw new TypeError('The transaction answered a query without rows.')
}
