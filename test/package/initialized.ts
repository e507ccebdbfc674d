import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import type { Consumer } from './consumer.ts'

const run = promisify(execFile)
const env = {
  ...process.env,
  NODE_OPTIONS: '',
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
}

/** Links binaries as a package manager does. */
export async function linkBinaries(
  { directory }: Consumer,
  binaries: Readonly<Record<string, string>>,
): Promise<void> {
  const folder = join(directory, 'node_modules', '.bin')
  await mkdir(folder)
  for (const [name, path] of Object.entries(binaries)) await symlink(join('..', path), join(folder, name))
}

/**
 * Runs `carillon init` in a folder, and then the commands that it prints: a mail sent over REST arrives in the mailbox.
 *
 * @returns how the program ended by Ctrl+C
 */
export async function initializeAndSend(cwd: string): Promise<unknown[]> {
  const { stderr } = await run('npx', ['carillon', 'init', '--yes'], { cwd, env })
  const [, ...steps] = stderr.split('\n\n')
  const [start = '', makeKey, send] = steps.map((step) => step.split('\n')[1] ?? '')

  const port = await freePort()
  const child = spawn('sh', ['-c', `exec ${start}`], {
    cwd,
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
    // Ctrl+C reaches all processes of a group.
    detached: true,
  })
  const kill = (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal)
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) kill('SIGKILL')
  })
  const url = `http://localhost:${port}`
  const get = async (path: string) => (await fetch(url + path, { headers: { connection: 'close' } })).text()
  await expect.poll(() => get('/notifications/health').catch(() => '')).toBe('{"status":"ok"}')
  expect(await get('/dashboard')).toContain('<!doctype html>')

  const commands = `${makeKey} && ${send}`.replaceAll('localhost:3000', `localhost:${port}`)
  const { stdout } = await run('sh', ['-c', commands], { cwd, env })
  expect(JSON.parse(stdout)).toMatchObject({ status: 'queued', to: 'ada@example.com' })
  await expect.poll(() => get('/mailbox/api/messages')).toContain('"subject":"Hello"')

  kill('SIGINT')
  return ended
}
