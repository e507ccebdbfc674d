import { once } from 'node:events'
import pg from 'pg'
import { findPostgres } from '../servers/postgres-programs.ts'
import { redisProgram } from '../servers/redis.ts'
import type { LocalServerOptions } from './local-server.ts'
import { startProgram } from './processes.ts'

/** A server shared by processes. */
export interface Server {
  readonly name: string
  readonly url: string
  /** Kills it like a crash of its machine and starts it again. Undefined: the server belongs to the environment. */
  readonly crash: ((awayMs: number) => Promise<void>) | undefined
  remove(): Promise<void>
}

/** The server of POSTGRES_URL, in a schema for this run, or one started from local programs. */
export async function openPostgres(schema: string): Promise<Server> {
  const { POSTGRES_URL: given } = process.env
  if (given !== undefined) {
    return { name: 'PostgreSQL', url: given, crash: undefined, remove: () => dropSchema(given, schema) }
  }
  if (findPostgres() === undefined) {
    throw new Error('PostgreSQL is not installed. Install it, or set POSTGRES_URL.')
  }
  return startLocal('PostgreSQL')
}

/** The server of REDIS_URL, under a prefix for this run, or one started from local programs. */
export async function openRedis(): Promise<Server> {
  const { REDIS_URL: given } = process.env
  if (given !== undefined) return { name: 'Redis', url: given, crash: undefined, remove: async () => {} }
  if (redisProgram === undefined) {
    throw new Error('Redis is not installed. Install redis-server or valkey-server, or set REDIS_URL.')
  }
  return startLocal('Redis')
}

/** In a process that outlives this one until the server has ended. */
async function startLocal(name: LocalServerOptions['name']): Promise<Server> {
  const keeper = startProgram('local-server', { name } satisfies LocalServerOptions, { detached: true })
  let said = ''
  keeper.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const gone = once(keeper, 'exit')

  async function answer(): Promise<unknown> {
    const ended = gone.then(() => {
      throw new Error(`${name} has ended: ${said.trim()}`)
    })
    const [message] = await Promise.race([once(keeper, 'message'), ended])
    return message
  }

  const url = String(await answer())
  return {
    name,
    url,
    async crash(awayMs) {
      keeper.send(awayMs)
      const answered = await answer()
      if (answered !== 'back') throw new Error(`${name} does not start again: ${answered}`)
    },
    async remove() {
      if (keeper.connected) keeper.disconnect()
      await gone
    },
  }
}

async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  await client.end()
}
