import { loadIoredis, reconnecting, withoutCommand } from '../../peer/ioredis.ts'

/** What is used of a `Redis` or `Cluster` of ioredis 5 and 6: a type of its own, so that theirs are not needed. */
export interface RedisClient {
  /** `ready`, or why commands would wait. */
  readonly status: string
  /** True of a `Cluster`. */
  readonly isCluster?: boolean | undefined
  connect(): Promise<unknown>
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  evalsha(hash: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
}

/** A client that this package made. */
export interface OwnRedisClient extends RedisClient {
  on(event: 'error', listener: (error: Error) => void): unknown
  disconnect(): void
}

/** A server that says nothing for so long is asked over a new connection. */
const SILENCE_MS = 5_000

/**
 * Connects by URL: nothing waits in the client while the server is away, and nothing that may have been counted is
 * sent twice.
 *
 * @param timeoutMs how long an answer is waited for
 * @param failed is told why it is not connected
 * @throws NotifierError `missing_peer` with the command that installs ioredis
 */
export async function openRedis(
  url: string,
  timeoutMs: number,
  failed: (error: unknown) => void,
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
  client.on('error', (error) => failed(withoutCommand(error)))
  return client
}
