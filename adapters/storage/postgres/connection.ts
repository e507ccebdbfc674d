import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { AddressOf } from '../../../src/ports/storage/storage.ts'
import { notOpen } from '../not-open.ts'
import { type Announcing, createAnnouncing, type MadeDue } from './announce.ts'
import { asFailure, isDataError, isDiskError, isUncertain, isUnprepared, unavailable } from './errors.ts'
import { quoted } from './literals.ts'
import type { PgClient, PgPool, PgResult } from './peer.ts'
import { untilPassed } from './until-passed.ts'
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
  /** The rows of the statements that it was opened with, in their order. */
  readonly opened: readonly (readonly unknown[])[]
  /**
   * Names a statement that answers a row where this transaction is stored. It is asked when the answer to the COMMIT is
   * lost: a server that crashed, or the standby in its place, may know nothing of the transaction and have given its
   * number to another one.
   */
  prove(statement: string, values: readonly Value[]): void
  readonly addressOf: AddressOf
  /** To be filled with what it makes due, which is announced when it is known to be committed. */
  readonly made: MadeDue
}

/** The way to the database: a pool, and how statements and transactions run on its connections. */
export interface Connection extends Runner {
  /** The chosen schema, unquoted. */
  readonly schema: string
  /** The time that statements are given: null, or that of a test. */
  readonly time: () => number | null
  readonly announcing: Announcing
  /** As the storage's start was given it. */
  addressOf: AddressOf
  /** Whether the server's disk has refused a write; who has seen it take one again says so. */
  refused: boolean
  /** Runs one statement, once, and passes every error of it on as it is: to tell a lost answer from a refusal. */
  readonly once: Runner
  /** Repeats what only reads until the database answers: a server that restarts needs some seconds. */
  surely<Answer>(read: () => Promise<Answer>): Promise<Answer>
  /** A statement as it is sent. */
  textOf(statement: string): string
  /** Takes a pool into use, or none. */
  use(pool: PgPool | undefined): void
  /**
   * Runs `work` as one transaction, again from its beginning after a deadlock. Data errors are passed on as they are;
   * after any error nothing of it is stored. Where the COMMIT's answer is lost the database is asked what became of it.
   *
   * @param opening statements that go along with its BEGIN, in the same round trip; they have no parameters, so that
   *   nothing but numbers may be written into them
   * @param reads it changes nothing: it takes no transaction number, which a standby has none of
   */
  transaction<Answer>(
    work: (tx: Transaction) => Promise<Answer>,
    opening?: readonly string[],
    reads?: boolean,
  ): Promise<Answer>
  /**
   * Answers every item of a set in one transaction. After a data error the set is halved, until the guilty item
   * fails alone.
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
  /** Longest time of a statement. */
  readonly statementTimeoutMs: number
  readonly time: () => number | null
}

/** How it is known that a transaction is stored. */
type Proof = readonly [statement: string, values: readonly Value[]]

/** A standby may not have come so far yet. */
const SELECT_FATE = `
  SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status($1::xid8) END AS status`

/** What a transaction knows when it has begun. */
interface Begun {
  readonly now: number
  readonly xid: string | null
  readonly opened: readonly (readonly unknown[])[]
}

/**
 * How long the fate of a commit whose answer was lost is asked for, however long each try takes: a server that restarts
 * needs some seconds.
 */
const ASK_WITHIN_MS = 10_000
const ASK_EVERY_MS = 200

export function createConnection(options: ConnectionOptions): Connection {
  const { schema, connectTimeoutMs, statementTimeoutMs, time } = options
  const prefix = `${quoted(schema)}.`
  const texts = new Map<string, string>()
  const names = new Map<string, string | undefined>()
  /** Whether connections keep prepared statements: behind some poolers they do not. */
  let keepsStatements = true
  /** The server ends what runs too long; the client gives up a little later, when the server does not answer at all. */
  const clientTimeoutMs = statementTimeoutMs + 1_000
  const announcing = createAnnouncing()
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

  /** Within the time limit, also where the pool has none. */
  async function acquire(): Promise<PgClient> {
    if (pool === undefined) throw notOpen('PostgreSQL')
    const connecting = pool.connect()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        // One that comes yet goes back unused.
        connecting.then((client) => client.release()).catch(() => {})
        reject(
          new Error(
            `No connection was free, or could be opened, within ${connectTimeoutMs} ms (connectTimeoutMs). Where the ` +
              'server answers, the pool is too small: raise maxConnections, or "max" of the pool that was given.',
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

  /**
   * Calls of functions are prepared: their plans hold whatever the tables become, and their rows have the same form for ever.
   * The name stands for the text, so that whoever else has prepared it has prepared the same.
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
      // Nothing has run. A pooler gives each transaction another connection than the one that prepared it.
      keepsStatements = false
      return withClient((client) => run<Row>(client, statement, values))
    }
  }

  async function rows<Row>(statement: string, values?: readonly Value[]): Promise<Row[]> {
    return repeated(() => rowsOnce<Row>(statement, values))
  }

  /** Until it succeeds, or fails by what does not pass. */
  function repeated<Answer>(once: () => Promise<Answer>): Promise<Answer> {
    return untilPassed(once, (error) => {
      if (isDiskError(error)) connection.refused = true
    })
  }

  /**
   * Plans never scan a table: statistics of a table that was empty a moment ago would have them do so. Nor are they compiled,
   * which takes hundreds of milliseconds where the estimates of a large table are high, for a few rows.
   */
  const settings = `SET LOCAL enable_seqscan = off; SET LOCAL jit = off; SET LOCAL statement_timeout = ${statementTimeoutMs}`

  async function begin(client: PgClient, opening: readonly string[], reads: boolean): Promise<Begun> {
    const fixed = time()
    const now = fixed === null ? NOW.replace('$1', 'NULL') : String(Math.floor(fixed))
    const xid = reads ? 'NULL' : 'pg_current_xact_id()'
    // Whatever the server's default: what is read after a lock must be what the one before has written.
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
    let proof: Proof | undefined
    const made = announcing.made()
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
            addressOf: connection.addressOf,
            rows: (statement, values) => run(client, statement, values),
            async script(statements) {
              await client.query({ text: textOf(statements) })
            },
            prove(...given) {
              proof = given
            },
          })
          await announcing.inside((statement, values) => run(client, statement, values), made)
        } catch (error) {
          if (!isUncertain(error)) await client.query({ text: 'ROLLBACK', query_timeout: clientTimeoutMs })
          throw error
        }
        commit = { xid, answer }
        const done = (await client.query({ text: 'COMMIT', query_timeout: clientTimeoutMs })) as PgResult
        if (done.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
        return answer
      })
      announcing.after(made)
      return answer
    } catch (error) {
      if (commit !== undefined && isUncertain(error) && (await wasCommitted(commit.xid, proof, error))) {
        announcing.after(made)
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
  async function wasCommitted(xid: string | null, proof: Proof | undefined, cause: unknown) {
    if (xid === null) return true
    return surely(async () => {
      const status = await fateOf(xid)
      if (status === 'committed') return proof === undefined || (await rows(...proof)).length > 0
      if (status === 'aborted') return false
      // The server has not noticed yet that nobody is at the other end.
      throw unavailable(cause)
    })
  }

  async function fateOf(xid: string): Promise<string | null | undefined> {
    try {
      return (await rows<{ status: string | null }>(SELECT_FATE, [xid]))[0]?.status
    } catch (error) {
      // A number that this server has not given yet: it stands in for the one that had.
      if (isDataError(error)) return 'aborted'
      throw error
    }
  }

  async function surely<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    const end = performance.now() + ASK_WITHIN_MS
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (performance.now() >= end || !isNotifierError(error)) throw asFailure(error)
      }
      await sleep(ASK_EVERY_MS)
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
    announcing,
    refused: false,
    addressOf: (_channel, recipient) => recipient,
    once: { rows: rowsOnce },
    surely,
    transaction,
    set,
  }
  return connection
}
