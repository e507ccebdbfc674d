import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import type { Consumer } from './consumer.ts'
import { openTerminal, runInShell } from './terminal.ts'

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
export async function initializeAndSend(cwd: string): Promise<number | NodeJS.Signals> {
  const { stderr } = await runInShell('npx carillon init --yes', cwd)
  const [, ...steps] = stderr.split('\n\n')
  const [start = '', makeKey, send] = steps.map((step) => step.split('\n')[1] ?? '')

  const port = await freePort()
  const terminal = openTerminal(start, cwd, { PORT: String(port) })
  const url = `http://localhost:${port}`
  const get = async (path: string) => (await fetch(url + path, { headers: { connection: 'close' } })).text()
  await expect.poll(() => get('/notifications/health').catch(() => '')).toBe('{"status":"ok"}')
  expect(await get('/dashboard')).toContain('<!doctype html>')

  const commands = `${makeKey} && ${send}`.replaceAll('localhost:3000', `localhost:${port}`)
  const { stdout } = await runInShell(commands, cwd)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'queued', to: 'ada@example.com' })
  await expect.poll(() => get('/mailbox/api/messages')).toContain('"subject":"Hello"')

  return terminal.interrupt()
}
