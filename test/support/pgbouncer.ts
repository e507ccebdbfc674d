import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from '../../examples/servers/free-port.ts'
import type { PostgresServer } from '../../examples/servers/postgres.ts'
import { unprivileged } from '../../examples/servers/postgres-programs.ts'
import { eventually } from './eventually.ts'

const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .filter((folder) => folder !== '')
  .map((folder) => join(folder, 'pgbouncer'))
  .find((file) => existsSync(file))

/** What tests of it miss; null: nothing. */
export const whyNoPgbouncer: string | null = program === undefined ? 'no pgbouncer is installed' : null

/** A pool between clients and one server. */
export interface Pgbouncer {
  readonly url: string
  remove(): Promise<void>
}

/** In transaction mode, where each transaction of a client goes to the next of its two connections. */
export async function startPgbouncer(server: PostgresServer): Promise<Pgbouncer> {
  const identity = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pgbouncer-'))
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 2',
    'server_round_robin = 1',
    'max_client_conn = 200',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const child: ChildProcess = spawn(program ?? '', ['-q', file], {
    ...identity,
    cwd: folder,
    stdio: 'ignore',
  })
  const gone = once(child, 'exit')
  await eventually(() => answers(port))
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async remove() {
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
