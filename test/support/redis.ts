import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, it } from 'vitest'
import { type OwnRedisClient, openRedis, type RedisClient } from '../../adapters/rate-limit/redis/client.ts'
import { createConnection } from '../../adapters/rate-limit/redis/connection.ts'
import { createLimiter } from '../../adapters/rate-limit/redis/limiter.ts'
import { createFallback } from '../../adapters/rate-limit/redis/unavailable.ts'
import type { RateLimiter } from '../../src/ports/rate-limiter.ts'
import { eventually } from './eventually.ts'

const given = process.env.CARILLON_TEST_REDIS_URL
const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  .filter((folder) => folder !== '')
  .map((folder) => join(folder, process.platform === 'win32' ? 'redis-server.exe' : 'redis-server'))
  .find((file) => existsSync(file))

/** Why there is no Redis to test with; null when there is one. */
const missing =
  given === undefined && program === undefined
    ? 'no CARILLON_TEST_REDIS_URL and no redis-server on the PATH'
    : null

/** A server of the tests' own, that they may stop. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Starts it again on the same port, with the data that it had been told to save. */
  start(): Promise<void>
  /** Ends it at once, without a chance to save. */
  kill(): Promise<void>
  /** Stops and continues the process: it hangs, and its connections stay. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  remove(): Promise<void>
}

/** Tests that need any Redis. Without one they are skipped with the reason; in CI that is a failure. */
export function describeRedis(name: string, tests: () => void): void {
  describeWith(missing, name, tests)
}

/** Tests that need a server which they may stop: a program on this machine. */
export function describeOwnRedis(name: string, tests: () => void): void {
  describeWith(program === undefined ? 'no redis-server on the PATH' : null, name, tests)
}

function describeWith(reason: string | null, name: string, tests: () => void): void {
  if (reason === null) {
    describe(name, tests)
    return
  }
  describe(name, () => {
    if (process.env.CI === undefined) it.skip(`skipped: ${reason}`, () => {})
    else {
      it('has a Redis to run with', () => {
        throw new Error(reason)
      })
    }
  })
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

export async function startRedis(more: readonly string[] = []): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '']
    child = spawn(program ?? '', [...settings, '--appendonly', 'no', ...more], { stdio: 'ignore' })
    await answers(port)
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  await start()
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    signal: (name) => void child?.kill(name),
    async remove() {
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function answers(port: number): Promise<void> {
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => 20 })
  client.on('error', () => {})
  client.connect().catch(() => {})
  await eventually(async () => client.status === 'ready' && (await client.ping()) === 'PONG')
  client.disconnect()
}

/** Free now; a cluster's node also takes the port 10,000 above. */
async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    if (port < 55_000) return port
  }
}

/** The limiter of `redisRateLimiter`, by a time that the test sets instead of the server's. */
export function steeredRateLimiter(
  { client, url = '', prefix }: { client?: RedisClient; url?: string; prefix: string },
  now: () => number,
): RateLimiter {
  let own: OwnRedisClient | undefined
  async function open(): Promise<RedisClient> {
    if (client !== undefined) return client
    own = await openRedis(url)
    return own
  }
  return createLimiter({
    connection: createConnection(open, 10_000),
    fallback: createFallback('refuse', () => {}),
    prefix,
    isCluster: () => client?.isCluster === true,
    now,
    close: async () => own?.disconnect(),
  })
}
