import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './free-port.ts'

const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']

function findProgram(name: string): string | undefined {
  return FOLDERS.filter((folder) => folder !== '')
    .map((folder) => join(folder, process.platform === 'win32' ? `${name}.exe` : name))
    .find((file) => existsSync(file))
}

/** Undefined: not installed. */
export const valkeyProgram: string | undefined = findProgram('valkey-server')
export const redisProgram: string | undefined = findProgram('redis-server') ?? valkeyProgram

/** A local Redis with data in a temporary folder. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Starts it again on the same port, with its saved data. */
  start(): Promise<void>
  /** Kills it without saving. */
  kill(): Promise<void>
  /** Stops or continues the process: it hangs while its connections stay open. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  remove(): Promise<void>
}

/**
 * @param more additional settings
 * @param program path of the server program
 */
export async function startRedis(
  more: readonly string[] = [],
  program: string | undefined = redisProgram,
): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '']
    child = spawn(program ?? '', [...settings, '--appendonly', 'no', ...more], { stdio: 'ignore' })
    await answers(child, port)
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

async function answers(child: ChildProcess, port: number): Promise<void> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    maxRetriesPerRequest: null,
    retryStrategy: () => 20,
  })
  client.on('error', () => {})
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`Redis does not start: it has ended with ${code}.`)
  })
  await Promise.race([client.ping(), ended]).finally(() => client.disconnect())
}
