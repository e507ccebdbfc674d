import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Consumer, createConsumer } from './consumer.ts'
import { initializeAndSend, linkBinaries } from './initialized.ts'

let consumer: Consumer
beforeAll(async () => {
  consumer = await createConsumer([
    '@hono/node-server',
    '@nestjs/common',
    '@nestjs/core',
    '@nestjs/platform-express',
    '@types/express',
    '@types/koa',
    '@types/node',
    'express',
    'fastify',
    'hono',
    'koa',
    'reflect-metadata',
  ])
  await linkBinaries(consumer, { carillon: 'carillon/dist/cli/bin.js' })
})
afterAll(() => consumer?.remove())

const FRAMEWORKS = {
  Express: ['express'],
  Fastify: ['fastify'],
  Koa: ['koa'],
  Hono: ['hono', '@hono/node-server'],
  NestJS: ['@nestjs/core', '@nestjs/common', 'reflect-metadata'],
  'Node.js': [],
}

/** A folder of a project, which has the packages of the consumer. */
async function project(
  name: string,
  packages: readonly string[],
  type: 'module' | 'commonjs',
): Promise<string> {
  const folder = name.replaceAll(/\W+/g, '-')
  const dependencies = Object.fromEntries(['carillon', ...packages].map((each) => [each, '*']))
  await consumer.write(
    join(folder, 'package.json'),
    JSON.stringify({ name: folder.toLowerCase(), type, dependencies }),
  )
  await symlink('../node_modules', join(consumer.directory, folder, 'node_modules'), 'junction')
  return folder
}

test.for(Object.entries(FRAMEWORKS))(
  '%s: what init writes and prints sends a mail',
  async ([name, packages]) => {
    const folder = await project(name, packages, 'commonjs')
    expect(await initializeAndSend(join(consumer.directory, folder))).toBe(0)
  },
)

test.for(Object.entries(FRAMEWORKS).filter(([name]) => name !== 'NestJS'))(
  '%s in TypeScript: the same, and the compiler finds no fault',
  async ([name, packages]) => {
    const folder = await project(`${name} types`, [...packages, 'typescript'], 'module')
    expect(await initializeAndSend(join(consumer.directory, folder))).toBe(0)
    await consumer.compile(['carillon.config.ts', 'carillon.server.ts'], { folder, skipLibCheck: true })
  },
)

test('carillon dev serves what init wrote, from the packed package', async () => {
  const cwd = join(consumer.directory, await project('dev', [], 'commonjs'))
  const bin = join(consumer.directory, 'node_modules', 'carillon', 'dist', 'cli', 'bin.js')
  expect(spawnSync(process.execPath, [bin, 'init', '--yes'], { cwd }).status).toBe(0)
  const child = spawn(process.execPath, [bin, 'dev', '--port', '0', '--json'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { mailbox, api, apiKey } = JSON.parse(line)
  const sent = await fetch(`${api}/v1/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: 'email', to: 'ada@example.com', subject: 'Hello', text: 'Hi' }),
  })
  expect(sent.status).toBe(201)
  const caught = async () => (await fetch(`${mailbox}/api/messages`)).text()
  await expect.poll(caught).toContain('"subject":"Hello"')
  expect(existsSync(join(cwd, '.carillon', 'notifications.db'))).toBe(false)
})
