import { globSync } from 'node:fs'
import { fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks, namedBlocks } from './markdown.ts'
import { exampleModules } from './public-functions.ts'

export const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/production/README.md',
  ...globSync('docs/**/*.md', { cwd: fromRoot('.') }).sort(),
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

/** A project that has every package that a guide uses, and the files that the blocks of a guide name. */
export async function createReader(): Promise<Consumer> {
  const consumer = await createConsumer([
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
  ])
  const [provider] = await codeBlocks('docs/tasks/custom-provider.md', 'ts')
  await consumer.write('acme-sms.ts', provider?.code ?? '')
  const [kind] = await codeBlocks('docs/tasks/custom-channel.md', 'ts')
  await consumer.write('pager.ts', kind?.code ?? '')
  const written = new Set<string>()
  for (const file of PAGES) {
    for (const { name, code } of await namedBlocks(file)) {
      if (written.has(name)) throw new Error(`${file}: another page has a ${name}`)
      written.add(name)
      await consumer.write(name, code)
    }
  }
  const next = (await codeBlocks('docs/start/frameworks.md', 'ts')).find(({ code }) =>
    code.includes('runningNotifier()'),
  )
  await consumer.write('notifier-of-next.ts', next?.code ?? '')
  return consumer
}

/** Compiles every TypeScript block of the documentation, every example of a function, and {@link PROGRAM}. */
export async function compileBlocks(reader: Consumer, compiler?: string): Promise<void> {
  const blocksIn = async (language: string) => {
    const blocks = (await Promise.all(PAGES.map((page) => codeBlocks(page, language)))).flat()
    return blocks.map(({ at, code }) => ({ name: `${at.replace(/\W+/g, '-')}.${language}`, code }))
  }
  const [plain, elements] = [await blocksIn('ts'), await blocksIn('tsx')]
  if (plain.length < 9 || elements.length < 2) throw new Error('Blocks are missing')
  const mails = { name: 'mails.tsx', code: elements[0]?.code ?? '' }
  const program = { name: 'program.ts', code: PROGRAM }
  const react = { name: 'react.d.ts', code: REACT }
  const sources = [...plain, ...elements, mails, program, react, ...exampleModules()]
  for (const { name, code } of sources) await reader.write(name, code)
  await reader.compile(
    sources.map(({ name }) => name),
    {
      ...(compiler === undefined ? {} : { compiler }),
      // Types of some clients in the blocks are faulty themselves.
      skipLibCheck: true,
      jsx: 'preserve',
      experimentalDecorators: true,
      paths: { '@/notifier': ['./notifier-of-next.ts'] },
    },
  )
}

/** The contract test of the guide to writing a provider. */
export async function providerTest(): Promise<string> {
  const block = (await codeBlocks('docs/tasks/custom-provider.md', 'ts')).find(({ code }) =>
    code.includes('acme-sms.ts'),
  )
  return block?.code ?? ''
}

/** Two channels, many organizations, templates in code, and mistakes that do not compile. */
export const PROGRAM = `
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
