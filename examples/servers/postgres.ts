import { execFile, spawnSync } from 'node:child_process'
import { chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { findPostgres, unprivileged } from './postgres-programs.ts'

/** A local PostgreSQL with data in a temporary folder. */
export interface PostgresServer {
  readonly port: number
  readonly url: string
  /** Starts it again on the same port and data. */
  start(): Promise<void>
  /** `immediate`: like a crash of the machine. `fast`: ends every connection. */
  stop(mode: 'immediate' | 'fast'): Promise<void>
  /** Promotes a standby to primary. */
  promote(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
  readonly programs: string
  readonly data: string
}

const run = promisify(execFile)

/** Paths and identity for running a server. */
export interface DataDirectory {
  readonly programs: string
  readonly folder: string
  readonly data: string
  readonly port: number
  call(name: string, ...args: string[]): Promise<unknown>
}

/** Prepares an empty folder for a server. */
export async function newDataDirectory(installed: string): Promise<DataDirectory> {
  const identity = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pg-'))
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid)
  let programs = installed
  // The other user may lack access to a checkout.
  if (spawnSync(join(programs, 'initdb'), ['--version'], { ...identity }).status !== 0) {
    cpSync(join(programs, '..'), join(folder, 'programs'), { recursive: true, verbatimSymlinks: true })
    programs = join(folder, 'programs/bin')
  }
  // Not in this folder, which the other user may be unable to read.
  const options = { ...identity, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  return {
    programs,
    folder,
    data: join(folder, 'data'),
    port: await freePort(),
    call: (name, ...args) => run(name === 'cp' ? name : join(programs, name), args, options),
  }
}

/** Starts a server on a data directory with additional configuration lines. The last line for a setting counts. */
export async function startIn(
  { programs, folder, data, port, call }: DataDirectory,
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

/** Removes the remains of a server that does not start. */
export async function orRemove(
  directory: DataDirectory,
  begin: () => Promise<PostgresServer>,
): Promise<PostgresServer> {
  try {
    return await begin()
  } catch (error) {
    await directory.call('pg_ctl', '-D', directory.data, '-w', '-m', 'immediate', 'stop').catch(() => {})
    rmSync(directory.folder, { recursive: true, force: true, maxRetries: 5 })
    throw error
  }
}

/**
 * Starts a server in a temporary folder.
 *
 * @param settings lines of postgresql.conf
 * @param programs folder of the required version
 */
export async function startPostgres(
  settings: readonly string[] = [],
  programs: string | undefined = findPostgres(),
): Promise<PostgresServer> {
  if (programs === undefined) throw new Error('no PostgreSQL is installed')
  const directory = await newDataDirectory(programs)
  return orRemove(directory, async () => {
    const { call, data } = directory
    await call('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C')
    return startIn(directory, settings)
  })
}
