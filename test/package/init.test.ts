import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
    expect(await initializeAndSend(join(consumer.directory, folder))).toEqual([0, null])
  },
)

test.for(Object.entries(FRAMEWORKS).filter(([name]) => name !== 'NestJS'))(
  '%s in TypeScript: the same, and the compiler finds no fault',
  async ([name, packages]) => {
    const folder = await project(`${name} types`, [...packages, 'typescript'], 'module')
    expect(await initializeAndSend(join(consumer.directory, folder))).toEqual([0, null])
    await consumer.compile(['carillon.config.ts', 'carillon.server.ts'], { folder, skipLibCheck: true })
  },
)
