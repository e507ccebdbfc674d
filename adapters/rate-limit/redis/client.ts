import { loadIoredis, reconnecting, withoutCommand } from '../../peer/ioredis.ts'

/** The members in use of a `Redis` or `Cluster` of ioredis 5 and 6, so that the declarations need neither version. */
export interface RedisClient {
  /** `ready`, or a state in which commands would wait. */
  readonly status: string
  /** True for a `Cluster`. */
  readonly isCluster?: boolean | undefined
  connect(): Promise<unknown>
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  evalsha(hash: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
}

/** A client that this package created. */
export interface OwnRedisClient extends RedisClient {
  on(event: 'error', listener: (error: Error) => void): unknown
  disconnect(): void
}

/** After this time without an answer the connection is replaced. */
const SILENCE_MS = 5_000

/**
 * Connects by URL. Commands do not queue in the client while the server is down, and commands that may have counted are
 * not repeated.
 *
 * @param timeoutMs longest wait for an answer
 * @param onError receives connection errors
 * @throws NotifierError `missing_peer` with the command that installs ioredis
 */
export async function openRedis(
  url: string,
  timeoutMs: number,
  onError: (error: unknown) => void,
): Promise<OwnRedisClient> {
  const { Redis } = await loadIoredis<OwnRedisClient>()
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 5_000,
    ...reconnecting(Math.max(SILENCE_MS, timeoutMs)),
    connectionName: 'carillon-rate-limiter',
  })
  client.on('error', (error) => onError(withoutCommand(error)))
  return client
}
