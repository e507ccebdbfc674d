import { randomUUID } from 'node:crypto'
import { type OwnRedisClient, openRedis, type RedisClient } from '../../adapters/rate-limit/redis/client.ts'
import { createConnection } from '../../adapters/rate-limit/redis/connection.ts'
import { createLimiter } from '../../adapters/rate-limit/redis/limiter.ts'
import { RUN } from '../../adapters/rate-limit/redis/run-script.ts'
import { createFallback } from '../../adapters/rate-limit/redis/unavailable.ts'
import { redisProgram, startRedis } from '../../examples/servers/redis.ts'
import type { RateLimiter } from '../../src/core/ports/rate-limiter.ts'
import type { RateLimiterHarness } from '../../src/testing/rate-limiter/harness.ts'
import { describeWith } from './left-out.ts'

const given = process.env.CARILLON_TEST_REDIS_URL
const noServer = redisProgram === undefined ? 'no redis-server on the PATH' : null

/** Tests that need any Redis. */
export function describeRedis(name: string, tests: () => void): void {
  const missing = given === undefined ? noServer : null
  describeWith(missing && `${missing}, and CARILLON_TEST_REDIS_URL names none`, name, tests)
}

/** Tests that need a server which they may stop: a program on this machine. */
export function describeOwnRedis(name: string, tests: () => void): void {
  describeWith(noServer, name, tests)
}

/** The Redis that the environment names, or one that is started; `close` ends the latter. */
export async function openRedisServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  if (given !== undefined) return { url: given, close: async () => {} }
  const server = await startRedis()
  return { url: server.url, close: server.remove }
}

/** A prefix for the keys of one test, so that tests share a server. */
export function newPrefix(): string {
  return `carillon-test-${randomUUID()}:`
}

/** The limiter of `redisRateLimiter`, by a time that the test sets instead of the server's. */
export function steeredRateLimiter(
  { client, url = '', prefix }: { client?: RedisClient; url?: string; prefix: string },
  now: () => number,
  timeoutMs = 10_000,
): RateLimiter {
  let own: OwnRedisClient | undefined
  async function open(): Promise<RedisClient> {
    if (client !== undefined) return client
    own = await openRedis(url, timeoutMs, () => {})
    return own
  }
  return createLimiter({
    connection: createConnection(RUN, open, timeoutMs, () => undefined),
    fallback: createFallback('refuse', () => {}),
    prefix,
    isCluster: () => client?.isCluster === true,
    now,
    open: async () => {},
    close: async () => own?.disconnect(),
  })
}

/** A limiter for one test, with keys and a time of its own. */
export function limiterHarness(url: string, timeoutMs?: number): RateLimiterHarness {
  let time = 1_800_000_000_000
  const prefix = newPrefix()
  const instance = () => steeredRateLimiter({ url, prefix }, () => time, timeoutMs)
  return {
    limiter: instance(),
    second: instance(),
    advance(ms) {
      time += ms
    },
  }
}
