import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { isDataError, isPassing, isUncertain, unavailable } from './errors.ts'
import type { PgClient, PgPool, PgResult } from './peer.ts'
import { bound, types, type Value } from './values.ts'

/**
 * Statements name tables `carillon.<name>`; the schema that was chosen takes that place. Those that need the time have
 * it as `$1`, null for the database's own clock.
 */
export const NOW = 'coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)'

/** Runs statements. */
export interface Runner {
  rows<Row>(statement: string, values?: readonly Value[]): Promise<Row[]>
}

export interface Transaction extends Runner {
  /** Runs several statements, which have no values. */
  script(statements: string): Promise<void>
  /** The storage's time at its begin; epoch milliseconds. */
  readonly now: number
}

/** The way to the database: a pool, and how statements and transactions run on its connections. */
export interface Connection extends Runner {
  /** The chosen schema, unquoted. */
  readonly schema: string
  /** The time that statements are given: null, or that of a test. */
  readonly time: () => number | null
  /** Runs one statement, once, and passes every error of it on as it is: to tell a lost answer from a refusal. */
  readonly once: Runner
  /** Repeats what only reads until the database answers: a server that restarts needs some seconds. */
  surely<Answer>(read: () => Promise<Answer>): Promise<Answer>
  /** Takes a pool into use, or none. */
  use(pool: PgPool | undefined): void
  /**
   * Runs `work` as one transaction, again from its beginning after a deadlock. Data errors are passed on as they are;
   * after any error nothing of it is stored. Where the COMMIT's answer is lost the database is asked what became of it.
   */
  transaction<Answer>(work: (tx: Transaction) => Promise<Answer>): Promise<Answer>
  /**
   * Answers every item of a set in one transaction. After a data error the set is halved, until the guilty item
   * fails alone.
   */
  set<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    work: (tx: Transaction, items: readonly Item[]) => Promise<Answer[]>,
  ): Promise<Answer[]>
}

export interface ConnectionOptions {
  readonly schema: string
  /** Longest wait for a free connection, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Longest time of a statement. */
  readonly statementTimeoutMs: number
  readonly time: () => number | null
}

const SELECT_FATE = 'SELECT pg_xact_status($1::xid8) AS status'

const MOST_RUNS = 5
/** How long the fate of a commit whose answer was lost is asked for: a server that restarts needs some seconds. */
const ASK_WITHIN_MS = 10_000
const ASK_EVERY_MS = 200

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function createConnection(options: ConnectionOptions): Connection {
  const { schema, connectTimeoutMs, statementTimeoutMs, time } = options
  const prefix = `${quoted(schema)}.`
  const texts = new Map<string, string>()
  /** The server ends what runs too long; the client gives up a little later, when the server does not answer at all. */
  const clientTimeoutMs = statementTimeoutMs + 1_000
  let pool: PgPool | undefined

  function textOf(statement: string): string {
    let text = texts.get(statement)
    if (text === undefined) {
      text = statement.replaceAll(/\bcarillon\./g, () => prefix)
      texts.set(statement, text)
    }
    return text
  }

  /** Within the time limit, also where the pool has none. */
  async function acquire(): Promise<PgClient> {
    if (pool === undefined) {
      throw new NotifierError('service_unavailable', { message: 'The PostgreSQL storage is not open.' })
    }
    const connecting = pool.connect()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        // One that comes yet goes back unused.
        connecting.then((client) => client.release()).catch(() => {})
        reject(new Error(`No connection was free within ${connectTimeoutMs} ms.`))
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
  ): Promise<Row[]> {
    const query = {
      text: textOf(statement),
      values: values.map(bound),
      types,
      query_timeout: clientTimeoutMs,
    }
    return ((await client.query(query)) as PgResult).rows as Row[]
  }

  /** Lends a connection; one that failed in a way that leaves its state unknown is closed. */
  async function withClient<Answer>(work: (client: PgClient) => Promise<Answer>): Promise<Answer> {
    const client = await acquire()
    let broken = false
    const breaks = (): void => {
      broken = true
    }
    // An error between two queries would otherwise end the process.
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

  function rowsOnce<Row>(statement: string, values?: readonly Value[]): Promise<Row[]> {
    return withClient((client) => run<Row>(client, statement, values))
  }

  async function rows<Row>(statement: string, values?: readonly Value[]): Promise<Row[]> {
    for (let runs = 1; ; runs += 1) {
      try {
        return await rowsOnce<Row>(statement, values)
      } catch (error) {
        if (isPassing(error) && runs < MOST_RUNS) await sleep(pauseAfter(runs))
        else throw asFailure(error)
      }
    }
  }

  /** Plans never scan a table: statistics of a table that was empty a moment ago would have them do so. */
  const settings = `SET LOCAL enable_seqscan = off; SET LOCAL statement_timeout = ${statementTimeoutMs}`

  async function begin(client: PgClient): Promise<{ readonly now: number; readonly xid: string }> {
    const fixed = time()
    const now = fixed === null ? NOW.replace('$1', 'NULL') : String(Math.floor(fixed))
    const text = `BEGIN; ${settings}; SELECT ${now} AS now, pg_current_xact_id()::text AS xid`
    const results = await client.query({ text, types, query_timeout: clientTimeoutMs })
    return (results as readonly PgResult[]).at(-1)?.rows[0] as { now: number; xid: string }
  }

  async function runOnce<Answer>(work: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
    let commit: { readonly xid: string; readonly answer: Answer } | undefined
    try {
      return await withClient(async (client) => {
        const { now, xid } = await begin(client)
        let answer: Answer
        try {
          answer = await work({
            now,
            rows: (statement, values) => run(client, statement, values),
            async script(statements) {
              await client.query({ text: textOf(statements) })
            },
          })
        } catch (error) {
          if (!isUncertain(error)) await client.query({ text: 'ROLLBACK', query_timeout: clientTimeoutMs })
          throw error
        }
        commit = { xid, answer }
        const done = (await client.query({ text: 'COMMIT', query_timeout: clientTimeoutMs })) as PgResult
        if (done.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
        return answer
      })
    } catch (error) {
      if (commit !== undefined && isUncertain(error) && (await wasCommitted(commit.xid, error))) {
        return commit.answer
      }
      throw error
    }
  }

  /**
   * Asks what became of a transaction whose COMMIT was not answered.
   *
   * @throws NotifierError `service_unavailable` when nobody can tell in time
   */
  async function wasCommitted(xid: string, cause: unknown): Promise<boolean> {
    for (let waited = 0; waited < ASK_WITHIN_MS; waited += ASK_EVERY_MS) {
      const found = await surely(() => rows<{ status: string | null }>(SELECT_FATE, [xid]))
      const status = found[0]?.status
      if (status === 'committed') return true
      if (status === 'aborted') return false
      // The server has not noticed yet that nobody is at the other end.
      await sleep(ASK_EVERY_MS)
    }
    throw unavailable(cause)
  }

  async function surely<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    for (let waited = 0; ; waited += ASK_EVERY_MS) {
      try {
        return await read()
      } catch (error) {
        if (waited >= ASK_WITHIN_MS || !isNotifierError(error)) throw asFailure(error)
      }
      await sleep(ASK_EVERY_MS)
    }
  }

  async function transaction<Answer>(work: (tx: Transaction) => Promise<Answer>): Promise<Answer> {
    for (let runs = 1; ; runs += 1) {
      try {
        return await runOnce(work)
      } catch (error) {
        if (isPassing(error) && runs < MOST_RUNS) await sleep(pauseAfter(runs))
        else throw asFailure(error)
      }
    }
  }

  async function set<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    work: (tx: Transaction, items: readonly Item[]) => Promise<Answer[]>,
  ): Promise<Answer[]> {
    try {
      return await transaction((tx) => work(tx, items))
    } catch (error) {
      if (!isDataError(error)) throw error
      if (items.length <= 1) return items.map(() => failed(error))
    }
    const middle = items.length >> 1
    const first = await set(items.slice(0, middle), failed, work)
    return [...first, ...(await set(items.slice(middle), failed, work))]
  }

  return {
    schema,
    time,
    use(next) {
      pool = next
    },
    rows,
    once: { rows: rowsOnce },
    surely,
    transaction,
    set,
  }
}

/** Pauses grow, and differ, so that two that met do not meet again. */
function pauseAfter(runs: number): number {
  return Math.random() * 10 * 2 ** runs
}

function asFailure(error: unknown): unknown {
  return isNotifierError(error) || isDataError(error) ? error : unavailable(error)
}

/** An identifier, quoted. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
