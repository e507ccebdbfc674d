import { invalidOption } from '../../../src/core/errors/invalid-option.ts'
import { assertOptionNames, FUNCTION, type OptionNames } from '../../../src/core/errors/option-names.ts'
import { safely } from '../../../src/core/loop/safely.ts'
import type { RateLimiter } from '../../../src/core/ports/rate-limiter.ts'
import { loadIoredis } from '../../peer/ioredis.ts'
import { urlFault } from '../../peer/server-url.ts'
import { type OwnRedisClient, openRedis, type RedisClient } from './client.ts'
import { createConnection } from './connection.ts'
import { createLimiter } from './limiter.ts'
import { RUN } from './run-script.ts'
import { createFallback, type Unavailable } from './unavailable.ts'

export type { RedisClient } from './client.ts'
export type { CheckName, Unavailable } from './unavailable.ts'

/** Options of {@link redisRateLimiter}. */
export interface RedisRateLimiterOptions {
  /** The application's `Redis` or `Cluster` of ioredis 5 or 6; it stays open. Required without `url`. */
  readonly client?: RedisClient | undefined
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. The limiter opens its own connection. */
  readonly url?: string | undefined
  /** Prefix of every key. Applications that share one Redis need different prefixes. @default 'carillon:' */
  readonly prefix?: string | undefined
  /** Longest wait for a decision, in milliseconds. @default 500 */
  readonly timeoutMs?: number | undefined
  /**
   * While Redis is down, `refuse`: throw `service_unavailable`. `allow`: continue without counting. A function
   * decides per check, by kind and key.
   *
   * @default 'refuse'
   */
  readonly onUnavailable?: Unavailable | undefined
  /** Called with the cause while Redis is down, at most once a minute. @default a process warning */
  readonly onError?: ((error: Error) => void) | undefined
}

const TIMEOUT_MS = 500

const OPTIONS: OptionNames<RedisRateLimiterOptions> = {
  client: true,
  url: true,
  // A cluster hashes the text between the first braces, which must be those of the key.
  prefix: {
    expected: 'text without braces',
    holds: (value) => typeof value === 'string' && !/[{}]/.test(value),
  },
  timeoutMs: {
    expected: 'a number of milliseconds above 0',
    holds: (value) => typeof value === 'number' && value > 0,
  },
  onUnavailable: {
    expected: '"refuse", "allow" or a function',
    holds: (value) => value === 'refuse' || value === 'allow' || typeof value === 'function',
  },
  onError: FUNCTION,
}

/**
 * Limits shared by all processes, in Redis 5 or later, Valkey or a Redis Cluster. Decides exactly like the limiter in
 * memory, by the server's clock. All decisions of one turn of the event loop share one round trip; on a cluster, one
 * per organization.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * const rateLimiter = redisRateLimiter({ url: process.env.REDIS_URL ?? 'redis://localhost' })
 * const notifier = createNotifier({ channels: { email: provider }, rateLimiter })
 */
export function redisRateLimiter(options: RedisRateLimiterOptions): RateLimiter {
  assertOptionNames('redisRateLimiter', options, OPTIONS)
  const { client, url, prefix = 'carillon:', timeoutMs = TIMEOUT_MS } = options
  assertServer(client, url)
  const { onUnavailable = 'refuse', onError = warn } = options
  let own: Promise<OwnRedisClient> | undefined
  let closed = false
  let lastFault: unknown

  async function open(): Promise<RedisClient> {
    if (closed) throw new Error('The rate limiter is closed.')
    if (client !== undefined) return client
    own = openRedis(url ?? '', timeoutMs, (error) => {
      lastFault = error
    })
    return own
  }

  return createLimiter({
    connection: createConnection(RUN, open, timeoutMs, () => lastFault),
    fallback: createFallback(onUnavailable, (error) =>
      safely(
        () => onError(error),
        () => warn(error),
      ),
    ),
    prefix,
    isCluster: () => client?.isCluster === true,
    async open() {
      if (client === undefined) await loadIoredis()
    },
    async close() {
      closed = true
      const opened = await own?.catch(() => undefined)
      opened?.disconnect()
    },
  })
}

function assertServer(client: unknown, url: unknown): void {
  if ((client === undefined) === (url === undefined)) {
    throw invalidOption('client', 'redisRateLimiter() requires either "url" or a "client" of ioredis.')
  }
  if (client !== undefined && typeof (client as RedisClient | null)?.evalsha !== 'function') {
    throw invalidOption('client', 'The option "client" must be a Redis or Cluster of ioredis.')
  }
  const fault = url === undefined ? null : urlFault(url, ['redis', 'rediss'])
  if (fault !== null) throw invalidOption('url', `The option "url" ${fault}`)
}

function warn({ message }: Error): void {
  process.emitWarning(message, { type: 'CarillonRateLimiterWarning' })
}
