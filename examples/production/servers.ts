import pg from 'pg'
import { startPostgres, whyNoPostgres } from '../../test/support/postgres.ts'
import { redisProgram, startRedis } from '../../test/support/redis-server.ts'

/** A server that processes share. */
export interface Server {
  readonly name: string
  readonly url: string
  /** Kills it as a crash of its machine would, and starts it again; undefined where it is not ours. */
  readonly crash: ((awayMs: number) => Promise<void>) | undefined
  remove(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The one that POSTGRES_URL names, in a schema of this run; else one that is started from local programs. */
export async function openPostgres(schema: string): Promise<Server> {
  const { POSTGRES_URL: given } = process.env
  if (given !== undefined) {
    return { name: 'PostgreSQL', url: given, crash: undefined, remove: () => dropSchema(given, schema) }
  }
  const missing = whyNoPostgres(true)
  if (missing !== null) throw new Error('There is no PostgreSQL: install one, or name one in POSTGRES_URL.')
  // Without fsync: here its processes crash, and not the machine.
  const server = await startPostgres()
  return {
    name: 'PostgreSQL',
    url: server.url,
    async crash(awayMs) {
      await server.stop('immediate')
      await pause(awayMs)
      // A Ctrl-C hits what starts it, too.
      await server.start().catch(server.start)
    },
    remove: server.remove,
  }
}

/** The one that REDIS_URL names, under a prefix of this run; else one that is started from local programs. */
export async function openRedis(): Promise<Server> {
  const { REDIS_URL: given } = process.env
  if (given !== undefined) return { name: 'Redis', url: given, crash: undefined, remove: async () => {} }
  if (redisProgram === undefined) {
    throw new Error('There is no Redis: install redis-server or valkey-server, or name one in REDIS_URL.')
  }
  const server = await startRedis([], redisProgram, { detached: true })
  return {
    name: 'Redis',
    url: server.url,
    async crash(awayMs) {
      await server.kill()
      await pause(awayMs)
      await server.start()
    },
    remove: server.remove,
  }
}

async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  await client.end()
}
