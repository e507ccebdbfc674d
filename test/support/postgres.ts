import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import {
  newDataDirectory,
  orRemove,
  type PostgresServer,
  startIn,
  startPostgres,
} from '../../examples/servers/postgres.ts'
import { findPostgres } from '../../examples/servers/postgres-programs.ts'

/**
 * What tests that need a server miss; null: nothing.
 *
 * @param own they stop and start it, so that it must be theirs
 */
export function whyNoPostgres(own = false): string | null {
  if (!own && process.env.CARILLON_TEST_POSTGRES_URL !== undefined) return null
  if (findPostgres() !== undefined) return null
  return 'no PostgreSQL: none is installed, and CARILLON_TEST_POSTGRES_URL names none'
}

/** A standby that follows a server, which is stopped for a moment to be copied. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const directory = await newDataDirectory(primary.programs)
  return orRemove(directory, async () => {
    await primary.stop('fast')
    await directory.call('cp', '-R', primary.data, directory.data)
    await primary.start()
    writeFileSync(join(directory.data, 'standby.signal'), '')
    return startIn(directory, [`primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'`])
  })
}

let shared: Promise<PostgresServer> | undefined

/** The server that the files of this process share. It ends with the run. */
export function sharedServer(): Promise<PostgresServer> {
  shared ??= startPostgres()
  return shared
}

/** The address of the server in `CARILLON_TEST_POSTGRES_URL`, or of the shared one. */
export async function sharedPostgres(): Promise<string> {
  return process.env.CARILLON_TEST_POSTGRES_URL ?? (await sharedServer()).url
}

/** A name that no other test uses. */
export function uniqueSchema(): string {
  return `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`
}

/** Runs statements on a connection of its own. */
export async function onPostgres<Answer>(
  url: string,
  work: (client: pg.Client) => Promise<Answer>,
): Promise<Answer> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
