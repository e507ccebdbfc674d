import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fromRoot } from '../../scripts/entries.mjs'
import { main } from '../../src/cli/main.ts'

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface Given {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** Runs a command line in this process. */
export async function carillon(
  argv: readonly string[],
  { cwd = '/', env = {}, input = '' }: Given = {},
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const [out, err] = [text(stdout), text(stderr)]
  const stdin = Readable.from([input])
  const code = await main({ cwd, env, stdin, stdout, stderr, signal: new AbortController().signal }, argv)
  stdout.end()
  stderr.end()
  return { code, out: await out, err: await err }
}

/** It runs from its sources. */
export const BIN: string = fromRoot('src/cli/bin.ts')

/** Starts a command line in a process of its own. */
export function spawnCarillon(argv: readonly string[], { cwd = '/', env = {}, input = '' }: Given = {}) {
  const child = spawn(process.execPath, [BIN, ...argv], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  child.stdin.end(input)
  const [out, err] = [text(child.stdout), text(child.stderr)]
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const outcome = (async (): Promise<Outcome> => ({ code: await ended, out: await out, err: await err }))()
  return { child, outcome }
}

/** The same on a pseudo-terminal, with what a person types. */
export function typeAtTerminal(argv: readonly string[], given: Given): Promise<Outcome> {
  const quoted = [process.execPath, BIN, ...argv].map((each) => `'${each}'`).join(' ')
  const child = spawn('script', ['-qec', quoted, '/dev/null'], {
    cwd: given.cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', ...given.env },
  })
  child.stdout.once('data', () => child.stdin.write(given.input ?? ''))
  const [out, err] = [text(child.stdout), text(child.stderr)]
  return new Promise((resolve) =>
    child.on('close', async (code) => resolve({ code, out: await out, err: await err })),
  )
}

/** A configuration with the source of a notifier's options, on a file in the folder. */
export function writeConfig(
  folder: string,
  { name = 'carillon.config.ts', channels = '{}', more = '' } = {},
): string {
  const file = join(folder, name)
  writeFileSync(
    file,
    `import { createNotifier } from '${fromRoot('src/index.ts')}'
import { postgres } from '${fromRoot('adapters/storage/postgres/index.ts')}'
import { sqlite } from '${fromRoot('adapters/storage/sqlite/index.ts')}'
const send = async () => ({ kind: 'accepted', providerMessageId: 'm' })
${name.endsWith('ts') ? 'const file: string' : 'const file'} = ${JSON.stringify(join(folder, 'notifications.db'))}
export default () => createNotifier({ storage: sqlite({ file }), ${more} channels: ${channels} })
`,
  )
  return file
}
