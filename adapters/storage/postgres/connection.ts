import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Follow } from '../../../src/core/ports/storage/storage.ts'
import { commitLookup } from '../commit-lookup.ts'
import { notOpen } from '../not-open.ts'
import { createDueJobs, type DueJobs, type MadeDue } from './due-jobs.ts'
import {
  asFailure,
  isDataError,
  isDiskError,
  isTransient,
  isUncertain,
  isUnprepared,
  unavailable,
} from './errors.ts'
import { quoted } from './literals.ts'
import type { PgClient, PgPool, PgResult } from './peer.ts'
import { bound, types, type Value } from './values.ts'

const MOST_RUNS = 5

/**
 * Repeats a call after transient errors, such as a deadlock.
 *
 * @param met receives each error
 * @throws the last error, wrapped
 */
async function retryTransient<Answer>(
  run: () => Promise<Answer>,
  met: (error: unknown) => void,
): Promise<Answer> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run()
    } catch (error) {
      met(error)
      if (!isTransient(error) || runs >= MOST_RUNS) throw asFailure(error)
      await sleep(pauseAfter(runs))
    }
  }
}

/** Grows, with jitter, so that two deadlocked calls do not collide again. */
function pauseAfter(runs: number): number {
  return Math.random() * 10 * 2 ** runs
}

/**
 * Statements name tables `carillon.<name>`; the configured schema replaces `carillon`. Statements that need the time
 * take it as `$1`; null means the database's clock.
 */
export const NOW = 'coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)'

/** Runs statements. */
export interface Runner {
  rows<Row>(statement: string, values?: readonly Value[]): Promise<Row[]>
}

export interface Transaction extends Runner {
  /** Runs several statements without values. */
  script(statements: string): Promise<void>
  /** The storage's time when the transaction began; epoch milliseconds. */
  readonly now: number
  /** Result rows of the opening statements, in order. */
  readonly opened: readonly (readonly unknown[])[]
  /**
   * Sets a statement that returns a row if this transaction is stored. It runs if the COMMIT's answer is lost: after a
   * crash, or on a standby that took over, the server may not know the transaction and may have reissued its number.
   */
  prove(statement: string, values: readonly Value[]): void
  readonly follow: Follow
  /** Collects the jobs that the transaction makes due. They are enqueued after the commit. */
  readonly made: MadeDue
}

/** Access to the database: a pool, and statements and transactions on its connections. */
export interface Connection extends Runner {
  /** The configured schema, unquoted. */
  readonly schema: string
  /** The time for statements. Null: the database's clock; tests set it. */
  readonly time: () => number | null
  readonly dueJobs: DueJobs
  /** Set by the storage's start. */
  follow: Follow
  /** True: the server's disk refused a write. Reset by the first successful write check. */
  refused: boolean
  /** Runs one statement once and passes on every error unchanged, to tell a lost answer from a refusal. */
  readonly once: Runner
  /** The text of a statement as sent. */
  textOf(statement: string): string
  /** Sets or clears the pool. */
  use(pool: PgPool | undefined): void
  /**
   * Runs `work` in one transaction, and again from the start after a deadlock. Data errors pass unchanged; after any
   * error nothing is stored. If the COMMIT's answer is lost, the database is queried for the outcome.
   *
   * @param opening statements that share the round trip of BEGIN. They have no parameters, so they may contain only
   *   numbers
   * @param reads true: the transaction is read-only and takes no transaction number, which a standby cannot issue
   */
  transaction<Answer>(
    work: (tx: Transaction) => Promise<Answer>,
    opening?: readonly string[],
    reads?: boolean,
  ): Promise<Answer>
  /**
   * Answers every item of a set in one transaction. After a data error the set is halved until the bad item fails
   * alone.
   */
  set<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    work: (tx: Transaction, items: readonly Item[]) => Promise<Answer[]>,
    opening?: (items: readonly Item[]) => readonly string[],
  ): Promise<Answer[]>
}

export interface ConnectionOptions {
  readonly schema: string
  /** Longest wait for a free connection, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Longest time of a statement, in milliseconds. */
  readonly statementTimeoutMs: number
  readonly time: () => number | null
}

/** A statement that proves that a transaction is stored. */
type CommitProof = readonly [statement: string, values: readonly Value[]]

/** A standby may lag behind. */
const SELECT_FATE = `
  SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status($1::xid8) END AS status`

/** State of a transaction after BEGIN. */
interface Begun {
  readonly now: number
  readonly xid: string | null
  readonly opened: readonly (readonly unknown[])[]
}

export function createConnection(options: ConnectionOptions): Connection {
  const { schema, connectTimeoutMs, statementTimeoutMs, time } = options
  const prefix = `${quoted(schema)}.`
  const texts = new Map<string, string>()
  const names = new Map<string, string | undefined>()
  /** False: prepared statements do not survive, as behind some poolers. */
  let keepsStatements = true
  /** The server ends long statements. The client waits a little longer, for a server that does not answer at all. */
  const clientTimeoutMs = statementTimeoutMs + 1_000
  const dueJobs = createDueJobs()
  let pool: PgPool | undefined

  function textOf(statement: string): string {
    let text = texts.get(statement)
    if (text === undefined) {
      text = inSchema(statement)
      texts.set(statement, text)
    }
    return text
  }

  function inSchema(statement: string): string {
    return statement.replaceAll(/\bcarillon\./g, () => prefix)
  }

  /** Applies the time limit even if the pool has none. */
  async function acquire(): Promise<PgClient> {
    if (pool === undefined) throw notOpen('PostgreSQL')
    const connecting = pool.connect()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        // A late connection goes back unused.
        connecting.then((client) => client.release()).catch(() => {})
        reject(
          new Error(
            `No connection became available within ${connectTimeoutMs} ms (connectTimeoutMs). If the server ` +
              'answers, the pool is too small: raise "maxConnections", or "max" of your own pool.',
          ),
        )
      }, connectTimeoutMs)
    })
    try {
      return await Promise.race([connecting, late])
    } catch (error) {
      throw isNotifierError(error) ? error : unavailable(error)
    } finally {
      clearTimeout(timer)
    }
  }

  async function run<Row>(
    client: PgClient,
    statement: string,
    values: readonly Value[] = [],
    name?: string,
  ): Promise<Row[]> {
    const query = {
      ...(name === undefined ? {} : { name }),
      text: textOf(statement),
      values: values.map(bound),
      types,
      query_timeout: clientTimeoutMs,
    }
    return ((await client.query(query)) as PgResult).rows as Row[]
  }

  /** Lends a connection. Closes it after an error that leaves its state unknown. */
  async function withClient<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    const client = await acquire()
    let broken = false
    const breaks = (): void => {
      broken = true
    }
    // Without a listener, an error between two queries would end the process.
    client.on('error', breaks)
    try {
      return await work(client)
    } catch (error) {
      if (isUncertain(error)) broken = true
      throw error
    } finally {
      client.removeListener('error', breaks)
      client.release(broken)
    }
  }

  /**
   * Only function calls are prepared: their plans survive schema changes and their row types never change. The name is
   * derived from the text, so another user of the connection who prepared the same name prepared the same text.
   */
  function nameOf(statement: string): string | undefined {
    if (!names.has(statement)) {
      const calls = /\bFROM carillon\.\w+_\d+\(/.test(statement)
      const hash = createHash('sha256').update(textOf(statement)).digest('hex').slice(0, 32)
      names.set(statement, calls ? `carillon_${hash}` : undefined)
    }
    return names.get(statement)
  }

  async function rowsOnce<Row>(statement: string, values?: readonly Value[]): Promise<Row[]> {
    const name = keepsStatements ? nameOf(statement) : undefined
    try {
      return await withClient((client) => run<Row>(client, statement, values, name))
    } catch (error) {
      if (name === undefined || !isUnprepared(error)) throw error
      // The statement has not run. The pooler switched connections since it was prepared.
      keepsStatements = false
      return withClient((client) => run<Row>(client, statement, values))
    }
  }

  async function rows<Row>(statement: string, values?: readonly Value[]): Promise<Row[]> {
    return repeated(() => rowsOnce<Row>(statement, values))
  }

  /** Repeats until success or a permanent error. */
  function repeated<Answer>(once: () => Promise<Answer>): Promise<Answer> {
    return retryTransient(once, (error) => {
      if (isDiskError(error)) connection.refused = true
    })
  }

  /**
   * Disables table scans, which statistics of a recently empty table would suggest, and compilation, which takes
   * hundreds of milliseconds for a few rows of a large table.
   */
  const settings = `SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SET LOCAL statement_timeout = ${statementTimeoutMs}`

  async function begin(client: PgClient, opening: readonly string[], reads: boolean): Promise<Begun> {
    const fixed = time()
    const now = fixed === null ? NOW.replace('$1', 'NULL') : String(Math.floor(fixed))
    const xid = reads ? 'NULL' : 'pg_current_xact_id()'
    // Explicit, regardless of the server's default: a read after a lock must see the writes of the previous holder.
    const first = `BEGIN ISOLATION LEVEL READ COMMITTED; ${settings}; SELECT ${now} AS now, ${xid}::text AS xid`
    const text = [first, ...opening.map(inSchema)].join(';')
    const results = (await client.query({
      text,
      types,
      query_timeout: clientTimeoutMs,
    })) as readonly PgResult[]
    const clock = results[results.length - opening.length - 1]?.rows[0] as Pick<Begun, 'now' | 'xid'>
    return {
      ...clock,
      opened: opening.length === 0 ? [] : results.slice(-opening.length).map(({ rows }) => rows),
    }
  }

  async function runOnce<Answer>(
    work: (tx: Transaction) => Promise<Answer>,
    opening: readonly string[],
    reads: boolean,
  ): Promise<Answer> {
    let commit: { readonly xid: string | null; readonly answer: Answer } | undefined
    let proof: CommitProof | undefined
    const made = dueJobs.collect()
    try {
      const answer = await withClient(async (client) => {
        let answer: Answer
        let xid: string | null
        try {
          const begun = await begin(client, opening, reads)
          xid = begun.xid
          answer = await work({
            now: begun.now,
            opened: begun.opened,
            made,
            follow: connection.follow,
            rows: (statement, values) => run(client, statement, values),
            async script(statements) {
              await client.query({ text: textOf(statements) })
            },
            prove(...given) {
              proof = given
            },
          })
          await dueJobs.beforeCommit((statement, values) => run(client, statement, values), made)
        } catch (error) {
          if (!isUncertain(error)) await client.query({ text: 'ROLLBACK', query_timeout: clientTimeoutMs })
          throw error
        }
        commit = { xid, answer }
        const done = (await client.query({ text: 'COMMIT', query_timeout: clientTimeoutMs })) as PgResult
        if (done.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
        return answer
      })
      dueJobs.afterCommit(made)
      return answer
    } catch (error) {
      if (commit !== undefined && isUncertain(error) && (await wasCommitted(commit.xid, proof, error))) {
        dueJobs.afterCommit(made)
        return commit.answer
      }
      throw error
    }
  }

  /**
   * Determines the outcome of a transaction whose COMMIT was not answered.
   *
   * @throws NotifierError `service_unavailable` if the outcome stays unknown
   */
  async function wasCommitted(xid: string | null, proof: CommitProof | undefined, cause: unknown) {
    if (xid === null) return true
    return commitLookup(async () => {
      const status = await fateOf(xid)
      if (status === 'committed') return proof === undefined || (await rows(...proof)).length > 0
      if (status === 'aborted') return false
      // The server has not noticed yet that the client is gone.
      throw unavailable(cause)
    })
  }

  async function fateOf(xid: string): Promise<string | null | undefined> {
    try {
      return (await rows<{ status: string | null }>(SELECT_FATE, [xid]))[0]?.status
    } catch (error) {
      // The server has not issued this number yet: it replaced the one that did.
      if (isDataError(error)) return 'aborted'
      throw error
    }
  }

  async function transaction<Answer>(
    work: (tx: Transaction) => Promise<Answer>,
    opening: readonly string[] = [],
    reads = false,
  ): Promise<Answer> {
    return repeated(() => runOnce(work, opening, reads))
  }

  async function set<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    work: (tx: Transaction, items: readonly Item[]) => Promise<Answer[]>,
    opening?: (items: readonly Item[]) => readonly string[],
  ): Promise<Answer[]> {
    try {
      return await transaction((tx) => work(tx, items), opening?.(items))
    } catch (error) {
      if (!isDataError(error)) throw error
      if (items.length <= 1) return items.map(() => failed(error))
    }
    const middle = items.length >> 1
    const first = await set(items.slice(0, middle), failed, work, opening)
    return [...first, ...(await set(items.slice(middle), failed, work, opening))]
  }

  const connection: Connection = {
    schema,
    textOf,
    time,
    use(next) {
      pool = next
    },
    rows,
    dueJobs,
    refused: false,
    follow: () => [],
    once: { rows: rowsOnce },
    transaction,
    set,
  }
  return connection
}
