import { invalidOption } from '../../../src/core/errors/invalid-option.ts'
import type { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { assertOptionNames, COUNT, TEXT } from '../../../src/core/errors/option-names.ts'
import type { Queue } from '../../../src/core/ports/queue.ts'
import { loadIoredis, reconnecting, withoutCommand } from '../../peer/ioredis.ts'
import { urlFault } from '../../peer/server-url.ts'
import { fromSet, toSets } from '../ref-sets.ts'
import { type BullmqConnection, type BullmqModule, type Closable, loadBullmq } from './peer.ts'

export type { BullmqConnection } from './peer.ts'

/** Options of {@link bullmqQueue}. */
export interface BullmqQueueOptions {
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. Required without `client`. */
  readonly url?: string | undefined
  /** The application's `Redis` of ioredis, whose settings the queue's own connections get. */
  readonly client?: BullmqConnection | undefined
  /** Name of the BullMQ queue. Applications that share one Redis need different names. @default 'carillon' */
  readonly name?: string | undefined
  /** Prefix of the Redis keys, as for the application's other queues. @default 'bull' */
  readonly prefix?: string | undefined
  /**
   * Sets of refs that a process takes at once; the providers' limits apply to deliveries.
   *
   * @default 4
   */
  readonly concurrency?: number | undefined
}

const READY_WITHIN_MS = 500
const LOOK_MS = 10
/** Longer than any blocking command of a BullMQ worker. */
const SILENCE_MS = 15_000

/**
 * Deliveries through BullMQ 5 or 6 in Redis. Jobs are added after the commit that stores the notification, and all of
 * them may be lost with Redis. See docs/tasks/scaling.md.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * const notifier = createNotifier({
 *   storage: postgres({ connectionString }),
 *   queue: bullmqQueue({ url: 'redis://localhost' }),
 *   channels: { email: provider },
 * })
 */
export function bullmqQueue(options: BullmqQueueOptions): Queue {
  assertOptionNames('bullmqQueue', options, {
    url: true,
    client: true,
    name: {
      expected: 'non-empty text without colons',
      holds: (value) => TEXT.holds(value) && !String(value).includes(':'),
    },
    prefix: TEXT,
    concurrency: COUNT,
  })
  assertServer(options)
  const { url, client, name = 'carillon', prefix = 'bull', concurrency = 4 } = options
  const connections = new Set<BullmqConnection>()
  let producer:
    | { readonly connection: BullmqConnection; readonly queue: InstanceType<BullmqModule['Queue']> }
    | undefined
  let lastFault: unknown

  /** @param onError receives connection errors, which ioredis would otherwise print to the console */
  async function connect(settings: object, onError: (error: unknown) => void): Promise<BullmqConnection> {
    const all = {
      ...reconnecting(SILENCE_MS),
      // A worker's command blocks at the server until there is a job.
      commandTimeout: undefined,
      lazyConnect: false,
      ...settings,
    }
    const connection =
      client?.duplicate(all) ?? new (await loadIoredis<BullmqConnection>()).Redis(url ?? '', all)
    connection.on('error', onError)
    connections.add(connection)
    return connection
  }

  return {
    name: 'bullmq',
    async open() {
      if (producer !== undefined) return
      const { Queue } = await loadBullmq()
      // Commands do not queue while the server is down: polling finds the jobs that could not be added.
      const connection = await connect({ enableOfflineQueue: false, maxRetriesPerRequest: 0 }, (error) => {
        lastFault = withoutCommand(error)
      })
      const queue = new Queue(name, {
        connection,
        prefix,
        defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
      })
      queue.on('error', () => {})
      producer = { connection, queue }
    },
    async enqueue(refs) {
      if (producer === undefined) return
      const { connection, queue } = producer
      if (!(await ready(connection)))
        throw new Error(`The connection to Redis is not ready: ${connection.status}.`, { cause: lastFault })
      await queue.addBulk(
        toSets(refs).map(({ set, delayMs }) => ({
          name: 'refs',
          data: set,
          opts: delayMs > 0 ? { delay: delayMs } : {},
        })),
      )
    },
    async work({ handle, onError }) {
      const { Worker } = await loadBullmq()
      const connection = await connect({ maxRetriesPerRequest: null }, () => {})
      const worker: Closable = new Worker(name, ({ data }) => handle(fromSet(data)), {
        connection,
        prefix,
        concurrency,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      })
      worker.on('error', (error) => onError(withoutCommand(error)))
      return async () => {
        // A worker without a connection has nothing to wait for.
        await worker.close(connection.status !== 'ready')
        connection.disconnect()
        connections.delete(connection)
      }
    },
    async close() {
      const open = producer
      producer = undefined
      if (open?.connection.status === 'ready') await open.queue.close()
      for (const connection of connections) connection.disconnect()
      connections.clear()
    },
  }
}

/** Waits briefly for the connection. False: it did not become ready. */
async function ready(connection: BullmqConnection): Promise<boolean> {
  const end = performance.now() + READY_WITHIN_MS
  while (connection.status !== 'ready') {
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return true
}

function assertServer({ url, client }: BullmqQueueOptions): void {
  if ((client === undefined) === (url === undefined))
    throw invalid('url', 'requires either a "url" or a "client" of ioredis.')
  const fault = url === undefined ? null : urlFault(url, ['redis', 'rediss'])
  if (fault !== null) throw invalid('url', `"url" ${fault}`)
  if (client !== undefined && typeof client?.duplicate !== 'function')
    throw invalid('client', '"client" must be a Redis of ioredis.')
  if (client?.isCluster === true)
    throw invalid('client', '"client" must be a Redis of ioredis, not a Cluster.')
  if (client?.options?.keyPrefix)
    throw invalid(
      'client',
      '"client" has a "keyPrefix", which BullMQ does not support. Use the option "prefix" instead.',
    )
}

function invalid(option: string, message: string): NotifierError {
  return invalidOption(option, `bullmqQueue: ${message}`)
}
