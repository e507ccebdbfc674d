// Runs on every supported runtime, against dist/: see scripts/test-runtimes.mjs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createNotifier } from 'carillon'
import { notifierRouter } from 'carillon/express'
import { smtp } from 'carillon/smtp'
import { sqlite } from 'carillon/sqlite'
import { SMTPServer } from 'smtp-server'
import { whileRunning } from './running.mjs'

const specifiers = [
  'carillon',
  'carillon/express',
  'carillon/fastify',
  'carillon/koa',
  'carillon/node',
  'carillon/fetch',
  'carillon/sqlite',
  'carillon/smtp',
  'carillon/webhook',
  'carillon/testing',
]

for (const specifier of specifiers) {
  test(`${specifier} loads through import and require, as one and the same module`, async () => {
    const imported = await import(specifier)
    const required = createRequire(import.meta.url)(specifier)
    assert.notEqual(Object.keys(imported).length, 0)
    for (const name of Object.keys(imported)) assert.equal(required[name], imported[name], name)
  })
}

test('a templated e-mail is delivered from the default storage', async () => {
  const inbox = fakeChannel()
  await whileRunning(createNotifier({ channels: { email: inbox } }), async (notifier) => {
    await notifier.templates.create({
      name: 'welcome',
      channel: 'email',
      subject: 'Hi {{name}}',
      body: 'Hello',
    })
    const { id } = await sendAndWait(notifier)
    assert.deepEqual(inbox.sent, ['ada@example.com: Hi Ada'])
    assert.equal((await notifier.notifications.get(id)).status, 'delivered')
  })
})

test('SQLite keeps what was delivered over a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-matrix-'))
  const open = () =>
    createNotifier({
      storage: sqlite({ file: join(folder, 'a.db') }),
      channels: { email: fakeChannel() },
    })
  let id = ''
  await whileRunning(open(), async (notifier) => {
    await notifier.templates.create({
      name: 'welcome',
      channel: 'email',
      subject: 'Hi {{name}}',
      body: 'Hello',
    })
    id = (await sendAndWait(notifier)).id
  })
  await whileRunning(open(), async (notifier) => {
    assert.equal((await notifier.notifications.get(id)).status, 'delivered')
  })
  await rm(folder, { recursive: true, force: true })
})

test('the REST API accepts a send and refuses one without a key', async () => {
  await whileRunning(createNotifier({ channels: { email: fakeChannel() } }), async (notifier) => {
    const router = notifierRouter(notifier, { https: 'allow-loopback' })
    const server = createServer((req, res) => router(req, res, () => res.writeHead(404).end()))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const { secret } = await notifier.apiKeys.create({ name: 'matrix', permission: 'Write' })
    const post = (/** @type {Record<string, string>} */ headers) =>
      fetch(`http://127.0.0.1:${port}/v1/notify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close', ...headers },
        body: JSON.stringify({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' }),
      })
    assert.equal((await post({})).status, 401)
    assert.equal((await post({ authorization: `Bearer ${secret}` })).status, 201)
    server.close()
  })
})

test('the REST API takes a body of which all pieces have come before it is read', async (t) => {
  await whileRunning(createNotifier({ channels: { email: fakeChannel() } }), async (notifier) => {
    const router = notifierRouter(notifier, { https: 'allow-loopback' })
    const server = createServer(async (req, res) => {
      // As a middleware of the host does that takes its time.
      while (!req.complete) await setTimeout(1)
      router(req, res, () => res.writeHead(404).end())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const { secret } = await notifier.apiKeys.create({ name: 'matrix', permission: 'Write' })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
    const sent = request({ port, method: 'POST', path: '/v1/notify', headers, agent: false })
    for (const piece of [
      '{"channel":"email","to":"ada@exam',
      'ple.com","subject":"Hi",',
      '"body":"Hello"}',
    ]) {
      sent.write(piece)
      await setTimeout(20)
    }
    const answered = once(sent, 'response')
    sent.end()
    const [answer] = await answered
    answer.resume()
    assert.equal(answer.statusCode, 201)
  })
})

test('an e-mail goes over SMTP', async () => {
  /** @type {string[]} */
  const received = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, callback) {
      received.push(...session.envelope.rcptTo.map(({ address }) => address))
      stream.resume().on('end', () => callback())
    },
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.server.address())
  const email = smtp({ host: '127.0.0.1', port, from: 'hello@example.com' })
  await whileRunning(createNotifier({ channels: { email } }), async (notifier) => {
    const sent = new Promise((resolve) => notifier.on('notification.sent', resolve))
    await notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' })
    await sent
  })
  assert.deepEqual(received, ['ada@example.com'])
  await new Promise((resolve) => server.close(() => resolve(undefined)))
})

/** @returns {import('carillon').Provider & { sent: string[] }} */
function fakeChannel() {
  /** @type {string[]} */
  const sent = []
  return {
    name: 'fake',
    sent,
    async send({ to, subject }) {
      sent.push(`${to}: ${subject}`)
      return { kind: 'accepted', status: 'delivered' }
    },
  }
}

/** @param {import('carillon').Notifier} notifier */
async function sendAndWait(notifier) {
  const delivered = new Promise((resolve) => notifier.on('notification.delivered', resolve))
  const variables = { name: 'Ada' }
  const result = await notifier.send({
    channel: 'email',
    to: 'ada@example.com',
    template: 'welcome',
    variables,
  })
  await delivered
  return result
}
