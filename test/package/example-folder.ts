import { existsSync } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { createConsumer } from './consumer.ts'
import { linkBinaries } from './initialized.ts'
import { codeBlocks } from './markdown.ts'
import { openTerminal, runInShell, type Terminal } from './terminal.ts'

const BINARIES = {
  carillon: 'carillon/dist/cli/bin.js',
  next: 'next/dist/bin/next',
  tsc: 'typescript/bin/tsc',
}
/** What a run of an example in the clone leaves behind. */
const LEFT_BEHIND = /^(?:node_modules|dist|\.next|package-lock\.json|notifications\.db.*|next-env\.d\.ts)$/
/** Only Next.js asks for them, and no example uses one. */
const NOT_INSTALLED_HERE = '@types/react'

/** The examples that install the package. */
export async function exampleFolders(): Promise<string[]> {
  const entries = await readdir(fromRoot('examples'), { recursive: true })
  return entries.flatMap((path) => /^([\w-]+)[\\/]package\.json$/.exec(path)?.[1] ?? []).sort()
}

export interface ExampleManifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export async function manifestOf(name: string): Promise<ExampleManifest> {
  return JSON.parse(await readFile(fromRoot(`examples/${name}/package.json`), 'utf8'))
}

/** A copy of an example, with what it declares installed, on free ports. */
export interface ExampleFolder {
  /** The commands of its `README.md`, a block each, for these ports. */
  readonly commands: readonly string[]
  /** Runs a script of its `package.json`, without npm, whose shell hides how a program ends. */
  open(script: string, env?: Readonly<Record<string, string>>): Terminal
  run(command: string): Promise<string>
  /** The answer of a server: the status and the body. */
  ask(
    path: string,
    init?: { readonly method?: string; readonly body?: string; readonly headers?: Record<string, string> },
    port?: 3000 | 4000,
  ): Promise<readonly [number, string]>
}

export async function copyExample(name: string, how?: 'files'): Promise<ExampleFolder> {
  const { scripts, dependencies, devDependencies } = await manifestOf(name)
  const declared = Object.keys({ ...dependencies, ...devDependencies })
  const consumer = await createConsumer(
    declared.filter((each) => each !== 'carillon' && each !== NOT_INSTALLED_HERE),
    how,
  )
  onTestFinished(consumer.remove)
  const { directory } = consumer
  if (declared.includes(NOT_INSTALLED_HERE)) {
    await consumer.write(`node_modules/${NOT_INSTALLED_HERE}/package.json`, '{ "version": "19.0.0" }')
    await consumer.write(`node_modules/${NOT_INSTALLED_HERE}/index.d.ts`, 'export {}')
  }
  await linkBinaries(consumer, BINARIES)

  const ports = { 3000: String(await freePort()), 4000: String(await freePort()) }
  const onPorts = (text: string) => text.replaceAll('3000', ports[3000]).replaceAll('4000', ports[4000])
  const folder = fromRoot(`examples/${name}`)
  await cp(folder, directory, {
    recursive: true,
    force: true,
    filter: (path) => !LEFT_BEHIND.test(basename(path)),
  })
  for (const path of await readdir(folder, { recursive: true })) {
    if (!/\.[jt]s$/.test(path) || !existsSync(join(directory, path))) continue
    await consumer.write(path, onPorts(await readFile(join(directory, path), 'utf8')))
  }

  const blocks = await codeBlocks(`examples/${name}/README.md`, 'sh')
  return {
    commands: blocks.map(({ code }) => onPorts(code)),
    open(script, env) {
      const command = `env PATH="$PWD/node_modules/.bin:$PATH" ${scripts[script]}`
      // Next.js reads it.
      return openTerminal(command, directory, { PORT: ports[3000], ...env })
    },
    run: async (command) => (await runInShell(`set -e\n${command}`, directory)).stdout,
    async ask(path, { headers, ...init } = {}, port = 3000) {
      const response = await fetch(`http://localhost:${ports[port]}${path}`, {
        ...init,
        headers: { connection: 'close', ...headers },
      })
      return [response.status, await response.text()]
    },
  }
}

/** Starts the server of an example, as the first commands of its `README.md` do. */
export async function startExample({ commands, open, run, ask }: ExampleFolder): Promise<Terminal> {
  const [install, ...others] = commands[0]?.trimEnd().split('\n') ?? []
  expect([install, others.at(-1)]).toEqual(['npm install', 'npm start'])
  await run('npm run prestart --if-present')
  const terminal = open('start')
  await expect.poll(() => ask('/notifications/health').catch(() => [])).toEqual([200, '{"status":"ok"}'])
  return terminal
}
