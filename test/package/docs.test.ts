import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { anchors, codeBlocks, links, namedBlocks } from './markdown.ts'
import { exampleModules, publicFunctions } from './public-functions.ts'

const files = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/production/README.md',
  ...(await readdir(fromRoot('docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
]

/** What the blocks use of React's types, which redeclare those of the DOM where both are installed. */
const REACT = `
declare namespace JSX {
  interface Element { readonly type: unknown; readonly props: unknown; readonly key: string | null }
  interface ElementChildrenAttribute { children: object }
  interface IntrinsicElements { readonly [name: string]: Readonly<Record<string, unknown>> }
}
declare module 'react' {
  export type ReactNode = unknown
}
declare module '@react-email/components' {
  type Component = (properties: Readonly<Record<string, unknown>>) => JSX.Element
  export const Button: Component
  export const Html: Component
  export const Text: Component
}
`

/** Two channels, many organizations, templates in code. */
const PROGRAM = `
import { createNotifier, defineTemplates, type MultiTenantNotifier, type Notifier } from 'carillon'
import { notifierRouter } from 'carillon/express'
import { smtp } from 'carillon/smtp'
import { sqlite } from 'carillon/sqlite'
import { twilio } from 'carillon/twilio'
import express from 'express'
import { z } from 'zod'

const variables = z.object({ name: z.string() })
const templates = defineTemplates({
  welcome: { channel: 'email', subject: 'Hi {{name}}', html: '<p>{{name}}</p>', variables },
})
const email = smtp({ host: 'localhost', from: 'shop@example.com' })
const sms = twilio({ accountSid: 'AC1', authToken: 'token', from: '+15005550006' })
const storage = sqlite({ file: ':memory:' })
const notifier = createNotifier({ storage, organizations: 'required', channels: { email, sms }, templates })

function createTenant(any: MultiTenantNotifier): Promise<{ readonly id: string }> {
  return any.organizations.create({ name: 'Acme' })
}

export async function welcome(): Promise<void> {
  const acme = notifier.organization((await createTenant(notifier)).id)
  await acme.send({ to: 'ada@example.com', template: 'welcome', variables: { name: 'Ada' } })
  await acme.send({ channel: 'sms', to: '+15005550006', body: 'Hi' })
  // @ts-expect-error: the type of a variable
  await acme.send({ to: 'ada@example.com', template: 'welcome', variables: { name: 1 } })
  // @ts-expect-error: a channel that is not configured
  await acme.send({ channel: 'slack', to: '#general', body: 'Hi' })
  // @ts-expect-error: no organization
  await notifier.send({ channel: 'sms', to: '+15005550006', body: 'Hi' })
  express().use('/notifications', notifierRouter(notifier))
}

export const one: Notifier = createNotifier({ channels: { email } })
`

let consumer: Consumer

beforeAll(async () => {
  const used = [
    '@types/node',
    '@types/express',
    'express',
    'fastify',
    'koa',
    '@types/koa',
    'nodemailer',
    'standardwebhooks',
    'vitest',
    'prom-client',
    '@opentelemetry/sdk-trace-node',
    'pg',
    '@types/pg',
    'kysely',
    'drizzle-orm',
    'knex',
    'better-sqlite3',
    '@types/better-sqlite3',
    '@nestjs/common',
    '@nestjs/core',
    'reflect-metadata',
  ]
  consumer = await createConsumer(used)
  const [provider] = await codeBlocks('docs/custom-provider.md', 'ts')
  await consumer.write('acme-sms.ts', provider?.code ?? '')
  const [kind] = await codeBlocks('docs/custom-channel.md', 'ts')
  await consumer.write('pager.ts', kind?.code ?? '')
  const written = new Set<string>()
  for (const file of files) {
    for (const { name, code } of await namedBlocks(file)) {
      if (written.has(name)) throw new Error(`${file}: another page has a ${name}`)
      written.add(name)
      await consumer.write(name, code)
    }
  }
  const next = (await codeBlocks('docs/frameworks.md', 'ts')).find(({ code }) =>
    code.includes('runningNotifier()'),
  )
  await consumer.write('notifier-of-next.ts', next?.code ?? '')
})

afterAll(() => consumer?.remove())

test('the tables that come from the code are up to date', () => {
  const script = fromRoot('scripts/generate-docs.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})

test('every function and method that users call shows an example in its documentation', () => {
  const all = publicFunctions()
  expect(all.length).toBeGreaterThan(200)
  const without = all.filter(({ examples }) => examples.length === 0)
  expect(without.map(({ name, at }) => `${name} (${at})`)).toEqual([])
})

test.each(files)('every relative link of %s leads to a file and a heading', async (file) => {
  for (const link of await links(file)) {
    const [path = '', fragment] = link.split('#')
    const target = path === '' ? file : join(dirname(file), path)
    expect(existsSync(fromRoot(target)), link).toBe(true)
    if (fragment !== undefined) expect(await anchors(target), link).toContain(fragment)
  }
})

/** The oldest supported version, the newest of TypeScript 5, the one of this repository, and the newest. */
const compilers = ['typescript5.7', 'typescript5.9', 'typescript', 'typescript7']

const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  jsx: 'preserve',
  types: ['node'],
  experimentalDecorators: true,
  paths: { '@/notifier': ['./notifier-of-next.ts'] },
}

describe.each(compilers)('with %s', (compiler) => {
  const compile = () => consumer.node(fromRoot(`node_modules/${compiler}/bin/tsc`), '-p', '.')

  test('every TypeScript block and every example of a function compiles against the built package', async () => {
    const blocksIn = async (language: string) => {
      const blocks = (await Promise.all(files.map((file) => codeBlocks(file, language)))).flat()
      return blocks.map(({ at, code }) => ({ name: `${at.replace(/\W+/g, '-')}.${language}`, code }))
    }
    const [plain, elements] = [await blocksIn('ts'), await blocksIn('tsx')]
    expect(plain.length).toBeGreaterThan(8)
    expect(elements.length).toBeGreaterThan(1)
    const mails = { name: 'mails.tsx', code: elements[0]?.code ?? '' }
    const sources = [...plain, ...elements, mails, { name: 'react.d.ts', code: REACT }, ...exampleModules()]
    for (const { name, code } of sources) await consumer.write(name, code)
    const config = {
      // Types of some clients in the blocks are faulty themselves.
      compilerOptions: { ...compilerOptions, skipLibCheck: true },
      files: sources.map(({ name }) => name),
    }
    await consumer.write('tsconfig.json', JSON.stringify(config))
    expect(await compile()).toBe('')
  })

  test('a program for many organizations compiles, its mistakes do not, and the declarations have no error', async () => {
    await consumer.write('program.ts', PROGRAM)
    const config = { compilerOptions: { ...compilerOptions, skipLibCheck: false }, files: ['program.ts'] }
    await consumer.write('tsconfig.json', JSON.stringify(config))
    expect(await compile()).toBe('')
  })
})

test('the examples of testing an application pass', async () => {
  const blocks = await codeBlocks('docs/testing.md', 'ts')
  await consumer.write('application.test.ts', blocks[0]?.code ?? '')
  await consumer.write('time.test.ts', blocks[1]?.code ?? '')
  await consumer.write('simulator.test.ts', blocks[2]?.code ?? '')
  const files = ['application.test.ts', 'time.test.ts', 'simulator.test.ts']
  expect(await consumer.node('--test', ...files)).toMatch(/pass 3\n/)
})

describe('the provider of the guide keeps its contract', () => {
  test('run by node:test', async () => {
    await consumer.write('acme-sms.test.ts', await providerTest())
    expect(await consumer.node('--test', 'acme-sms.test.ts')).toMatch(/pass [1-9]\d+\n[\s\S]*fail 0\n/)
  })

  test('run by vitest', async () => {
    const vitest = (await providerTest()).replace("'node:test'", "'vitest'")
    await consumer.write('acme-sms.vitest.test.ts', vitest)
    const run = ['run', '--root', '.', 'acme-sms.vitest.test.ts']
    expect(await consumer.node(fromRoot('node_modules/vitest/vitest.mjs'), ...run)).toMatch(/Tests .*passed/)
  })

  test.each([
    ['accepts whatever the provider says', 'answer.status === 201 && id !== undefined', 'answer.status > 0'],
    ['takes a wrong number for another fault', "'invalid_phone_number'", "'invalid_recipient'"],
    ['drops the code of an error', '{ code, message', '{ message'],
    ['shows its key in an outcome', 'secrets: [apiKey]', 'secrets: []'],
    ['makes a new key for each attempt', ': idempotencyKey }', ': crypto.randomUUID() }'],
    ['keeps its connections', 'close: () => http.close()', 'close: () => {}'],
    ['goes on after its time is over', '          signal,\n', ''],
  ])('and breaks it when it %s', async (_, right, wrong) => {
    const [block] = await codeBlocks('docs/custom-provider.md', 'ts')
    const broken = block?.code.replace(right, wrong) ?? ''
    expect(broken).not.toBe(block?.code)
    await consumer.write('broken.ts', broken)
    await consumer.write('broken.test.ts', (await providerTest()).replace('./acme-sms.ts', './broken.ts'))
    await expect(consumer.node('--test', 'broken.test.ts')).rejects.toThrow(/fail [1-9]/)
  })
})

test('the shop of the guide stores an order and its notification together in SQLite', async () => {
  await consumer.write('shop.ts', await scalingBlock('shop.db'))
  const code = `
    import { DatabaseSync } from 'node:sqlite'
    const shop = new DatabaseSync('shop.db')
    shop.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, notification TEXT)')
    const { notifier, placeOrder } = await import('./shop.ts')
    await notifier.start({ deliver: false })
    for (const id of ['1', '1']) {
      await placeOrder({ id, email: 'ada@example.com' }).catch(({ message }) => console.log(message))
    }
    const { items } = await notifier.notifications.list()
    console.log(items.length, shop.prepare('SELECT notification FROM orders').get().notification === items[0].id)
    await notifier.stop()`
  const printed = await consumer.node(
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    code,
  )
  expect(printed).toBe('UNIQUE constraint failed: orders.id\n1 true\n')
})

describeWith(whyNoPostgres(true), 'on PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  test('the shop of the guide stores an order and its notification together', async () => {
    await consumer.write('order.ts', await scalingBlock('tx: client'))
    await consumer.write('each.ts', await scalingBlock('tx: trx'))
    const code = `
      import { createNotifier } from 'carillon'
      import { postgres } from 'carillon/postgres'
      import { drizzle } from 'drizzle-orm/node-postgres'
      import createKnex from 'knex'
      import { Kysely, PostgresDialect } from 'kysely'
      import pg from 'pg'
      import { sendInEach } from './each.ts'
      import { placeOrder } from './order.ts'
      const connectionString = '${server.url}'
      const pool = new pg.Pool({ connectionString })
      await pool.query('CREATE TABLE orders (id text PRIMARY KEY)')
      const email = { name: 'none', send: async () => ({ kind: 'accepted' }) }
      const notifier = createNotifier({ storage: postgres({ connectionString }), channels: { email } })
      await notifier.start({ deliver: false })
      for (const id of ['1', '1']) {
        await placeOrder(pool, notifier, { id, email: 'ada@example.com' }).catch(({ code }) => console.log(code))
      }
      const count = async () => console.log((await notifier.notifications.list()).items.length)
      await count()
      const knex = createKnex({ client: 'pg', connection: connectionString })
      const handles = { kysely: new Kysely({ dialect: new PostgresDialect({ pool }) }), drizzle: drizzle(pool), knex }
      await sendInEach(notifier, { channel: 'email', to: 'ada@example.com', body: 'x' }, handles)
      await count()
      await notifier.stop()
      await knex.destroy()
      await pool.end()`
    expect(await consumer.node('--input-type=module', '-e', code)).toBe('23505\n1\n4\n')
  })
})

async function scalingBlock(part: string): Promise<string> {
  const block = (await codeBlocks('docs/scaling.md', 'ts')).find(({ code }) => code.includes(part))
  return block?.code ?? ''
}

async function providerTest(): Promise<string> {
  const block = (await codeBlocks('docs/custom-provider.md', 'ts')).find(({ code }) =>
    code.includes('acme-sms.ts'),
  )
  return block?.code ?? ''
}

test('the receiver of the guide takes a signed event and refuses another', async () => {
  const block = (await codeBlocks('docs/events.md', 'ts')).find(({ code }) => code.includes('receiver'))
  await consumer.write('receiver.ts', block?.code ?? '')
  const code = `
    import express from 'express'
    import { Webhook } from 'standardwebhooks'
    import { receiver } from './receiver.ts'
    const secret = 'whsec_' + Buffer.alloc(32, 7).toString('base64')
    const app = express()
    app.use(receiver(secret, async (id, { event }) => console.log(id, event)))
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const body = JSON.stringify({ event: 'notification.sent', data: {} })
    const now = new Date()
    for (const signed of [body, 'another body']) {
      const headers = {
        'content-type': 'application/json',
        'webhook-id': 'evt_1_2',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('evt_1_2', now, signed),
      }
      const url = 'http://127.0.0.1:' + server.address().port + '/events'
      console.log((await fetch(url, { method: 'POST', headers, body })).status)
    }
    server.close()
    server.closeAllConnections()`
  expect(await consumer.node('--input-type=module', '-e', code)).toBe('evt_1_2 notification.sent\n200\n401\n')
})
