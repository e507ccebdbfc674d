import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { ERRORS, isErrorCode } from '../../src/core/errors/catalogue.ts'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import type { Consumer } from './consumer.ts'
import { compileBlocks, createReader, folderOf, PAGES } from './documentation.ts'
import { anchors, codeBlocks, links } from './markdown.ts'
import { publicFunctions } from './public-functions.ts'

let consumer: Consumer

beforeAll(async () => {
  consumer = await createReader()
})
afterAll(() => consumer?.remove())

test('the tables that come from the code are up to date', () => {
  const script = fromRoot('scripts/generate-docs.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})

test('every error code has a page of at most a kilobyte, to which its errors point, and every page a code', async () => {
  const pages = PAGES.filter((page) => page.startsWith('docs/reference/errors/'))
  expect(pages.map((page) => basename(page, '.md'))).toEqual(Object.keys(ERRORS).sort())
  for (const page of pages) {
    const code = basename(page, '.md')
    const { docs } = new NotifierError(isErrorCode(code) ? code : 'not_found')
    const text = await readFile(join(consumer.directory, docs ?? ''), 'utf8')
    expect(text.startsWith(`# \`${code}\`\n\n<!-- generated: error -->\n`), page).toBe(true)
    expect(Buffer.byteLength(text), page).toBeLessThanOrEqual(1_024)
  }
  expect(new NotifierError('reactions.not_found').docs).toBeUndefined()
})

test('every function and method that users call shows an example in its documentation', () => {
  const all = publicFunctions()
  expect(all.length).toBeGreaterThan(200)
  const without = all.filter(({ examples }) => examples.length === 0)
  expect(without.map(({ name, at }) => `${name} (${at})`)).toEqual([])
})

test.each(PAGES)('every relative link of %s leads to a file and a heading', async (file) => {
  for (const link of await links(file)) {
    const [path = '', fragment] = link.split('#')
    const target = path === '' ? file : join(dirname(file), path)
    expect(existsSync(fromRoot(target)), link).toBe(true)
    if (fragment !== undefined) expect(await anchors(target), link).toContain(fragment)
  }
})

test('the index of the documentation leads to every page, over as many links as it takes', async () => {
  const reached = new Set(['docs/README.md'])
  for (const page of reached) {
    const targets = (await links(page)).map((link) => join(dirname(page), link.replace(/#.*/, '')))
    for (const target of targets) if (PAGES.includes(target)) reached.add(target)
  }
  expect(PAGES.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([])
})

test('the index answers at least 60 questions', async () => {
  const [, questions = ''] = (await readFile(fromRoot('docs/README.md'), 'utf8')).split('## How do I …?')
  expect([...questions.matchAll(/^- \[/gm)].length).toBeGreaterThanOrEqual(60)
})

test('blocks, examples of functions and a program compile against the built package, and its mistakes do not', () =>
  compileBlocks(consumer))

test('the examples of testing an application pass', async () => {
  const blocks = await codeBlocks('docs/tasks/testing.md', 'ts')
  await consumer.write('application.test.ts', blocks[0]?.code ?? '')
  await consumer.write('time.test.ts', blocks[1]?.code ?? '')
  await consumer.write('simulator.test.ts', blocks[2]?.code ?? '')
  const files = ['application.test.ts', 'time.test.ts', 'simulator.test.ts']
  expect(await consumer.node('--test', ...files)).toMatch(/pass 3\n/)
})

test('the test for coding agents passes', async () => {
  expect(await consumer.node('--test', `${folderOf('AGENTS.md')}/order.test.ts`)).toMatch(/pass 1\n/)
})

test('moving carries over opt-outs and delayed jobs, and may be repeated', async () => {
  const queue = folderOf('docs/tasks/move-from-nodemailer-and-bullmq.md')
  const hosted = folderOf('docs/tasks/move-from-a-hosted-service.md')
  const code = `
    import { createNotifier } from 'carillon'
    import { recordingProvider } from 'carillon/testing'
    import { moveDelayed } from './${queue}/delayed.ts'
    import { mailer } from './${queue}/mail.ts'
    import { carryOver as carryOptOuts } from './${queue}/opt-outs.ts'
    import { switchOf } from './${hosted}/notify.ts'
    import { carryOver as carryPeople } from './${hosted}/people.ts'
    import { refusalOf } from './${hosted}/shadow.ts'
    const notifier = createNotifier({
      channels: { email: recordingProvider() },
      categories: { news: { name: 'News' } },
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: id + '@example.com' } }])) },
    })
    await notifier.start({ deliver: false })
    await notifier.templates.create({ name: 'hello', channel: 'email', text: 'Hello {{name}}' })
    async function* each(...items) { yield* items }
    const variables = { name: 'Ada' }
    for (const _ of [1, 2]) {
      await carryOptOuts(notifier, each(
        { email: 'bounced@example.com', why: 'bounced', list: null },
        { email: 'ada@example.com', why: 'unsubscribed', list: 'news' },
      ))
      console.log(await carryPeople(notifier, each(
        { user: 'bob', email: 'bob@example.com', bounced: null, choices: { news: false, games: true } },
        { user: 'eve', email: 'eve@example.com', bounced: 'complaint', choices: {} },
      ), new Set(['news'])))
      const data = { kind: 'hello', to: 'cy@example.com', variables }
      const job = { id: '7', timestamp: Date.parse('2026-01-01'), delay: 86_400_000, data, remove: async () => console.log('removed') }
      await moveDelayed(notifier, [job])
    }
    console.log((await notifier.suppressions.list()).items.map(({ to, reason }) => to + ' ' + reason))
    console.log((await notifier.preferences.get({ channel: 'email', to: 'ada@example.com' })).categories.news)
    console.log((await notifier.preferences.get({ recipient: 'bob' })).categories.news)
    const old = { add: async (name, { kind }, { jobId }) => console.log(name, kind, jobId) }
    const mail = mailer(notifier, old, new Set(['hello']))
    await mail({ kind: 'receipt', event: '1', to: 'ada@example.com', variables })
    await mail({ kind: 'hello', event: '1', to: 'ada@example.com', variables })
    const message = { template: 'hello', recipient: 'bob', variables }
    console.log(await refusalOf(notifier, message), await refusalOf(notifier, { ...message, recipient: 'eve' }))
    const notify = (share) => switchOf(notifier, async (_, key) => console.log('old', key), { hello: share })
    await notify(0)(message, '2')
    await notify(1)(message, '2')
    console.log((await notifier.notifications.list()).items.map(({ to }) => to).sort())
    await notifier.stop()`
  const printed = await consumer.node(
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    code,
  )
  expect(printed.split('\n')).toMatchInlineSnapshot(`
    [
      "[ 'bob' ]",
      "removed",
      "[ 'bob' ]",
      "removed",
      "[ 'eve@example.com complaint', 'bounced@example.com hard_bounce' ]",
      "false",
      "false",
      "mail receipt receipt-1",
      "null hello blocked_recipient node_modules/carillon/docs/reference/errors/blocked_recipient.md",
      "old hello-2",
      "[ 'ada@example.com', 'bob@example.com', 'cy@example.com' ]",
      "",
    ]
  `)
})

test('the provider of the guide keeps its contract', async () => {
  const page = 'docs/tasks/custom-provider.md'
  expect(await consumer.node('--test', `${folderOf(page)}/acme-sms.test.ts`)).toMatch(
    /pass [1-9]\d+\n[\s\S]*fail 0\n/,
  )
})

test('the programs about when and why print what their last comments say', async () => {
  const programs = await codeBlocks('docs/tasks/when-and-why.md', 'ts')
  expect(programs).toHaveLength(4)
  for (const { code } of programs) {
    await consumer.write('when.ts', code)
    const comments = code.split('\n').filter((line) => line.startsWith('// '))
    const printed = comments.map((line) => `${line.slice(3)}\n`).join('')
    expect(await consumer.node('--disable-warning=ExperimentalWarning', 'when.ts')).toBe(printed)
  }
})

test('the programs about preferences and quiet hours hold what they assert', async () => {
  const blocks = await codeBlocks('docs/tasks/preferences.md', 'ts')
  const programs = blocks.filter(({ code }) => code.includes('node:assert'))
  expect(programs).toHaveLength(2)
  for (const { name } of programs) await consumer.node(`docs/tasks/preferences/${name}`)
})

describeWith(whyNoPostgres(true), 'on PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  test('a reminder of the guide moves together with its booking', async () => {
    const block = (await codeBlocks('docs/tasks/sending.md', 'ts')).find(({ code }) =>
      code.includes('moveBooking'),
    )
    await consumer.write('booking.ts', block?.code ?? '')
    const code = `
      import { createNotifier } from 'carillon'
      import { postgres } from 'carillon/postgres'
      import pg from 'pg'
      import { moveBooking } from './booking.ts'
      const connectionString = '${server.url}'
      const pool = new pg.Pool({ connectionString })
      await pool.query('CREATE TABLE bookings (id text PRIMARY KEY, begins timestamptz)')
      await pool.query("INSERT INTO bookings VALUES ('1', now())")
      const email = { name: 'none', send: async () => ({ kind: 'accepted' }) }
      const notifier = createNotifier({ storage: postgres({ connectionString }), channels: { email } })
      await notifier.start({ deliver: false })
      const inDays = (days) => new Date(Date.now() + days * 86_400_000)
      const mail = { channel: 'email', to: 'ada@example.com', body: 'x' }
      const { id: reminder } = await notifier.send({ ...mail, sendAt: inDays(1) })
      const begins = inDays(5)
      await moveBooking(pool, notifier, { id: '1', reminder, begins })
      await notifier.notifications.cancel(reminder)
      await moveBooking(pool, notifier, { id: '1', reminder, begins: inDays(9) }).catch(({ code }) => console.log(code))
      const { rows } = await pool.query('SELECT begins FROM bookings')
      const { sendAt } = await notifier.notifications.get(reminder)
      console.log(begins - rows[0].begins, begins - new Date(sendAt))
      await notifier.stop()
      await pool.end()`
    expect(await consumer.node('--input-type=module', '-e', code)).toBe('not_reschedulable\n0 86400000\n')
  })
})

test('the receiver of the guide takes a signed event and refuses another', async () => {
  const block = (await codeBlocks('docs/reference/events.md', 'ts')).find(({ code }) =>
    code.includes('receiver'),
  )
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
