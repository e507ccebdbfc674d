import { EventEmitter } from 'node:events'
import { invalidOption } from '../../../src/core/errors/invalid-option.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { assertOptionNames, BOOLEAN, COUNT, TEXT } from '../../../src/core/errors/option-names.ts'
import type { JobRef, Queue, QueueWorker, TransactionalQueue } from '../../../src/core/ports/queue.ts'
import { type OpenPgPool, openPgPool } from '../../peer/pg.ts'
import { isPermanent, misconfigured } from '../../peer/postgres-refusal.ts'
import { urlFault } from '../../peer/server-url.ts'
import { fromSet, toSets } from '../ref-sets.ts'
import {
  type GraphileConnected,
  type GraphilePool,
  type GraphileRunner,
  type GraphileUtils,
  loadGraphile,
} from './peer.ts'

/** Options of {@link graphileWorkerQueue}. */
export interface GraphileWorkerQueueOptions {
  /** `postgres://…`: the database of graphile-worker's tables. Required without `pool`. */
  readonly connectionString?: string | undefined
  /** The application's `Pool` of `pg` 8; the application closes it. It needs at least `concurrency` connections. */
  readonly pool?: object | undefined
  /** Schema of graphile-worker, which creates and migrates it. @default 'graphile_worker' */
  readonly schema?: string | undefined
  /** Name of the task that carries the refs, unique among the application's tasks. @default 'carillon' */
  readonly task?: string | undefined
  /**
   * Add jobs in the transaction that stores the notification, in the same database. False: after the commit, for an
   * engine with its own database.
   *
   * @default true
   */
  readonly inTransaction?: boolean | undefined
  /**
   * Sets of refs that a process takes at once; the providers' limits apply to deliveries.
   *
   * @default 4
   */
  readonly concurrency?: number | undefined
  /** Polling interval for jobs that become due later, in milliseconds. @default 1000 */
  readonly pollMs?: number | undefined
}

const RESTART_MS = 5_000
const CONNECT_MS = 10_000

/**
 * By default 0.18 does not wait for the query that ends a job. A lost connection would then be an unhandled rejection
 * and end the process. In batches, even of one, it is a fault of the runner.
 */
const AWAITED = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } }

/**
 * Values: sets as JSON, task. The casts name types, because the SQL function identifies a row's fields by order alone.
 */
const enqueue = (schema: string): string => `
  SELECT count(*)::integer AS added FROM ${schema}.add_jobs(ARRAY(
    SELECT ROW($2::text, given.set, NULL,
      CASE WHEN given."delayMs" > 0 THEN clock_timestamp() + given."delayMs" * interval '1 millisecond' END,
      NULL, NULL, NULL, NULL)::${schema}.job_spec
    FROM json_to_recordset($1::json) AS given (set json, "delayMs" double precision)))`

/** Two connections with the same number lead to the same database. */
const SELECT_TYPE = 'SELECT to_regtype($1)::oid::text AS id'
const idOf = ([row]: readonly unknown[]): unknown => (row as { readonly id: unknown } | undefined)?.id

/**
 * Deliveries through graphile-worker 0.16 to 0.18 in PostgreSQL. Jobs are added in the transaction that stores the
 * notification. See docs/tasks/scaling.md.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * const notifier = createNotifier({
 *   storage: postgres({ connectionString }),
 *   queue: graphileWorkerQueue({ connectionString }),
 *   channels: { email: provider },
 * })
 */
export function graphileWorkerQueue(options: GraphileWorkerQueueOptions): Queue {
  assertOptionNames('graphileWorkerQueue', options, {
    connectionString: true,
    pool: true,
    schema: TEXT,
    task: TEXT,
    inTransaction: BOOLEAN,
    concurrency: COUNT,
    pollMs: COUNT,
  })
  assertServer(options)
  const { schema = 'graphile_worker', task = 'carillon', concurrency = 4, pollMs = 1_000 } = options
  const { inTransaction = true } = options
  const quoted = `"${schema.replaceAll('"', '""')}"`
  const statement = enqueue(quoted)
  let opened: OpenPgPool<GraphilePool> | undefined
  let utils: GraphileUtils | undefined

  async function connected(): Promise<object> {
    const { Logger } = await loadGraphile()
    opened ??= await openPool(options, concurrency)
    // Its events carry the same information; the default logger prints to the console.
    return { pgPool: releasedOnce(opened.pool), schema, logger: new Logger(() => () => {}) }
  }

  function values(refs: readonly JobRef[]): [string, string] {
    return [JSON.stringify(toSets(refs)), task]
  }

  const transactional: TransactionalQueue = {
    storage: 'postgres',
    async enqueue(run, refs) {
      if (refs.length > 0) await run(statement, values(refs))
      else await assertAdds(run)
    },
  }

  /**
   * @throws NotifierError `invalid_configuration` if the storage is in another database or its role may not add jobs
   */
  async function assertAdds(run: Parameters<TransactionalQueue['enqueue']>[0]): Promise<void> {
    try {
      await assertSame(await run(SELECT_TYPE, [`${quoted}.job_spec`]))
      // Only a trial reveals this: the role may call the function, and the tables or their policies may still refuse.
      await run('SAVEPOINT carillon_queue', [])
      await run(statement, values([{ jobId: '', lane: '', dueInMs: 0 }]))
      await run('ROLLBACK TO SAVEPOINT carillon_queue', [])
    } catch (error) {
      if (!isPermanent(error)) throw error
      throw invalid(
        'inTransaction',
        `the role of the storage cannot add jobs: PostgreSQL answers "${error.message}". ` +
          'Grant the privileges, or set "inTransaction" to false.',
        error,
      )
    }
  }

  /** @throws NotifierError `invalid_configuration` if the storage is in another database */
  async function assertSame(seen: readonly unknown[]): Promise<void> {
    const own = await utils?.withPgClient((client) => client.query(SELECT_TYPE, [`${quoted}.job_spec`]))
    if (idOf(seen) === idOf(own?.rows ?? [])) return
    throw invalid(
      'inTransaction',
      'the storage is in another database than graphile-worker. Use one database for both, or set "inTransaction" to false.',
    )
  }

  return {
    name: 'graphile-worker',
    transactional: inTransaction ? transactional : undefined,
    async open() {
      const { makeWorkerUtils } = await loadGraphile()
      const options = await connected()
      try {
        utils ??= await makeWorkerUtils(options)
      } catch (error) {
        throw startFailure(error)
      }
    },
    async enqueue(refs) {
      await utils?.withPgClient((client) => client.query(statement, values(refs)))
    },
    async work(worker) {
      const { run } = await loadGraphile()
      const base = await connected()
      return keepRunning(worker, (events) =>
        run({
          ...base,
          events,
          concurrency,
          pollInterval: pollMs,
          noHandleSignals: true,
          parsedCronItems: [],
          preset: AWAITED,
          taskList: { [task]: (set: unknown) => worker.handle(fromSet(set)) },
        }),
      )
    },
    async close() {
      const [own, pool] = [utils, opened]
      utils = undefined
      opened = undefined
      await own?.release()
      await pool?.close()
    },
  }
}

/**
 * Opens a pool outside graphile-worker. graphile-worker ends its own pool without waiting and removes its error
 * listeners, so a server that shuts down at the same time would end the process.
 */
function openPool(
  { pool, connectionString }: GraphileWorkerQueueOptions,
  concurrency: number,
): Promise<OpenPgPool<GraphilePool>> {
  return openPgPool(pool as GraphilePool | undefined, {
    connectionString,
    // One more connection listens, and one enqueues.
    max: concurrency + 2,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'carillon queue',
  })
}

/** Restarts a failed runner until it is stopped. */
function keepRunning(
  { onError }: QueueWorker,
  run: (events: EventEmitter) => Promise<GraphileRunner>,
): () => Promise<void> {
  let stopped = false
  let runner: GraphileRunner | undefined
  let timer: NodeJS.Timeout | undefined
  let starting = start()

  async function start(): Promise<void> {
    const events = new EventEmitter()
    for (const name of ['pool:listen:error', 'pool:fatalError', 'worker:getJob:error', 'worker:fatalError'])
      events.on(name, ({ error }: { readonly error: unknown }) => onError(error))
    try {
      runner = await run(events)
      runner.promise.then(again, again)
    } catch (error) {
      again(error)
    }
  }

  function again(error?: unknown): void {
    if (stopped) return
    onError(error ?? new Error('graphile-worker has stopped and is being restarted.'))
    timer = setTimeout(() => {
      starting = start()
    }, RESTART_MS)
  }

  return async () => {
    stopped = true
    clearTimeout(timer)
    await starting
    await runner?.stop().catch(() => {})
    await runner?.promise.catch(() => {})
  }
}

function assertServer({ connectionString, pool }: GraphileWorkerQueueOptions): void {
  if ((connectionString === undefined) === (pool === undefined))
    throw invalid('pool', 'requires either a "connectionString" or a "pool" of pg.')
  const fault = connectionString === undefined ? null : urlFault(connectionString, ['postgres', 'postgresql'])
  if (fault !== null) throw invalid('connectionString', `"connectionString" ${fault}`)
}

/** The engine needs its tables before the notifier accepts anything. */
function startFailure(cause: unknown): NotifierError {
  if (isPermanent(cause)) return misconfigured('graphileWorkerQueue', cause)
  return new NotifierError('service_unavailable', {
    message: 'graphileWorkerQueue: its tables could not be prepared. Try again later; see the cause.',
    cause,
  })
}

function invalid(option: string, message: string, cause?: unknown): NotifierError {
  return invalidOption(option, `graphileWorkerQueue: ${message}`, cause)
}

/**
 * A pool that tolerates a second release. graphile-worker releases its listening connection twice if the connection is
 * lost during a stop. The second time `pg` throws inside an unhandled promise, which would end the process.
 */
function releasedOnce(pool: GraphilePool): GraphilePool {
  function connect(connected?: GraphileConnected): unknown {
    if (connected === undefined) return pool.connect()
    return pool.connect((error, client, release) => {
      let released = false
      connected(error, client, (destroy) => {
        if (released) return
        released = true
        release?.(destroy)
      })
    })
  }

  return new Proxy(pool, {
    get(target, name) {
      if (name === 'connect') return connect
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
