import { globSync } from 'node:fs'
import { fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks } from './markdown.ts'
import { exampleModules } from './public-functions.ts'

export const PAGES = [
  'README.md',
  'AGENTS.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...globSync('examples/{*/,}README.md', { cwd: fromRoot('.') }).sort(),
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

/** A project that has every package that a page uses, and a folder for each page with the files that its blocks name. */
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
    'hono',
    '@hono/node-server',
  ])
  for (const { path, code } of await blocksOfPages()) await consumer.write(path, code)
  return consumer
}

/** The TypeScript blocks of all pages. Each page has a folder of its own, so that its blocks import only each other. */
async function blocksOfPages(): Promise<{ readonly path: string; readonly code: string }[]> {
  const found: { readonly path: string; readonly code: string }[] = []
  for (const page of PAGES) {
    const blocks = [...(await codeBlocks(page, 'ts')), ...(await codeBlocks(page, 'tsx'))]
    for (const { name, code, at } of blocks) {
      const path = `${folderOf(page)}/${name}`
      if (found.some((other) => other.path === path)) throw new Error(`${at}: another block is ${name}, too`)
      found.push({ path, code })
    }
  }
  return found
}

/** The folder of a page in the project of {@link createReader}. */
export function folderOf(page: string): string {
  return page.replace(/\.md$/, '')
}

/** Compiles every TypeScript block of the documentation, every example of a function, and {@link PROGRAM}. */
export async function compileBlocks(reader: Consumer, compiler?: string): Promise<void> {
  const blocks = (await blocksOfPages()).map(({ path }) => path)
  if (blocks.length < 120) throw new Error('Blocks are missing')
  const program = { name: 'program.ts', code: PROGRAM }
  const react = { name: 'react.d.ts', code: REACT }
  const sources = [program, react, ...exampleModules()]
  for (const { name, code } of sources) await reader.write(name, code)
  await reader.compile([...blocks, ...sources.map(({ name }) => name)], {
    ...(compiler === undefined ? {} : { compiler }),
    // Types of some clients in the blocks are faulty themselves.
    skipLibCheck: true,
    jsx: 'preserve',
    experimentalDecorators: true,
    paths: { '@/*': ['./docs/start/nextjs/*.ts'] },
  })
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
