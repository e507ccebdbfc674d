// Requests that go out and come in, on each runtime's own sockets and servers: see scripts/test-runtimes.mjs.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { serve as serveOnNode } from '@hono/node-server'
import { createNotifier } from 'carillon'
import { dashboard } from 'carillon/dashboard'
import { notifierRouter } from 'carillon/express'
import { notifierPlugin } from 'carillon/fastify'
import { notifierFetch } from 'carillon/fetch'
import { notifierMiddleware } from 'carillon/koa'
import { notifierHandler } from 'carillon/node'
import { postmark } from 'carillon/postmark'
import { webhook } from 'carillon/webhook'
import { fetchReceiver } from 'carillon/webhooks'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import { guardedHttp } from '../../src/outgoing/guarded-http.ts'
import { eventually } from '../support/eventually.ts'
import { whileRunning } from './running.mjs'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' }
const quiet = { name: 'quiet', send: async () => ({ kind: /** @type {const} */ ('accepted') }) }
const https = /** @type {const} */ ('allow-loopback')

/** @param {string} baseUrl */
const mailApi = (baseUrl) => postmark({ serverToken: 'token', from: 'acme@example.com', baseUrl })

test('a provider over HTTP repeats a send that was answered with 500', async (t) => {
  const api = await postmarkServer(t, 500, 200)
  await whileRunning(createNotifier({ channels: { email: mailApi(api.url) } }), async (notifier) => {
    const sent = new Promise((resolve) => notifier.on('notification.sent', resolve))
    const { id } = await notifier.send(mail)
    await sent
    const { status, timeline } = await notifier.notifications.get(id)
    assert.deepEqual([status, timeline.at(-1)?.attempt], ['sent', 2])
    assert.deepEqual(api.subjects, ['Hi', 'Hi'])
  })
})

test('a provider that is down leaves the notification to be repeated, and rejects nothing', async (t) => {
  const api = await postmarkServer(t)
  await api.close()
  await whileRunning(createNotifier({ channels: { email: mailApi(api.url) } }), async (notifier) => {
    const { id } = await notifier.send(mail)
    const { timeline } = await eventually(async () => {
      const record = await notifier.notifications.get(id)
      return record.timeline.length > 2 ? record : null
    })
    assert.match(JSON.stringify(timeline), /ECONNREFUSED/)
  })
})

test('the process ends by itself after the stop, and prints no warning', async (t) => {
  const api = await postmarkServer(t, 200)
  const folder = await mkdtemp(join(tmpdir(), 'carillon-matrix-'))
  const program = fileURLToPath(new URL('sends-and-ends.mjs', import.meta.url))
  const deno = ['run', '--no-prompt', '--allow-net', '--allow-env', '--allow-read', '--allow-write']
  const args = [program, join(folder, 'a.db'), api.url]
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    process.versions.deno === undefined ? args : [...deno, ...args],
    { timeout: 60_000 },
  )
  assert.deepEqual({ stdout, stderr }, { stdout: 'stopped\n', stderr: '' })
  assert.deepEqual(api.subjects, ['Hi'])
  await rm(folder, { recursive: true, force: true })
})

test('the audit log names keys and actors, also while requests overlap', async () => {
  await whileRunning(createNotifier({ channels: { email: quiet } }), async (notifier) => {
    const key = await notifier.apiKeys.create({ name: 'k', permission: 'Full Access' })
    const answer = notifierFetch(notifier, { https })
    const connection = { remoteAddress: '127.0.0.1', encrypted: false }
    const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' }
    /** @param {string} id */
    const create = (id) => {
      const body = JSON.stringify({ id, name: id })
      return answer(
        new Request('http://127.0.0.1/v1/categories', { method: 'POST', headers, body }),
        connection,
      )
    }
    const slow = new TransformStream()
    const init = /** @type {RequestInit} */ ({ method: 'POST', headers, body: slow.readable, duplex: 'half' })
    const first = answer(new Request('http://127.0.0.1/v1/categories', init), connection)
    await Promise.all(['a', 'b'].map(create))
    const writer = slow.writable.getWriter()
    await writer.write(new TextEncoder().encode('{"id":"slow","name":"slow"}'))
    await writer.close()
    assert.equal((await first)?.status, 201)
    await notifier.categories.create({ id: 'c', name: 'c' })
    await create('d')
    await notifier.actingAs('ada', () => notifier.categories.create({ id: 'e', name: 'e' }))
    await create('f')
    const { items } = await notifier.auditLog.list({ action: 'category.created' })
    const actors = items.map(({ target, actor }) => `${target.id} ${actor.id}`).sort()
    const ofKey = ['a', 'b', 'd', 'f', 'slow'].map((id) => `${id} ${key.id}`)
    assert.deepEqual(actors, [...ofKey, 'c code', 'e ada'].sort())
  })
})

test('the address guard refuses private addresses, and names that resolve to them', async (t) => {
  const channels = { webhook: webhook() }
  await whileRunning(createNotifier({ channels }), async (notifier) => {
    const to = 'https://127.0.0.1:8443/'
    await assert.rejects(notifier.send({ channel: 'webhook', to, body: 'Hi' }), { code: 'invalid_recipient' })
    await assert.rejects(notifier.webhooks.create({ url: to }), { code: 'blocked_address' })
  })

  let connections = 0
  const server = createServer().on('connection', () => {
    connections += 1
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const http = guardedHttp({ allowHttp: true, lookup: async () => [{ address: '127.0.0.1', family: 4 }] })
  t.after(() => http.close())
  const url = `http://rebound.example.com:${port}/`
  const { kind, ...result } = await http.post({
    organizationId: 'org_default',
    url,
    headers: {},
    body: '{}',
    timeoutMs: 60_000,
  })
  assert.equal('reason' in result && result.reason, 'blocked', kind)
  assert.equal(connections, 0)
})

test('a signed event reaches an endpoint on the server of the runtime, which verifies it', async (t) => {
  /** @type {string[]} */
  const events = []
  let secret = ''
  const url = await serveFetch(t, (request) =>
    fetchReceiver({ secret, handle: ({ event }) => void events.push(event) })(request),
  )
  const webhooks = { allow: ['127.0.0.0/8'], allowHttp: true }
  await whileRunning(createNotifier({ channels: { email: quiet }, webhooks }), async (notifier) => {
    const endpoint = await notifier.webhooks.create({ url, events: ['notification.sent'] })
    secret = endpoint.secret
    assert.equal((await notifier.webhooks.test(endpoint.id)).status, 200)
    await notifier.send(mail)
    await eventually(() => events.includes('notification.sent'))
    secret = `whsec_${Buffer.alloc(32).toString('base64')}`
    assert.equal((await notifier.webhooks.test(endpoint.id)).status, 401)
  })
})

/** @type {Record<string, (t: import('node:test').TestContext, notifier: import('carillon').Notifier) => Promise<string>>} */
const servers = {
  'node:http': async (t, notifier) => {
    const api = notifierHandler(notifier, { prefix: '/api', https })
    const pages = notifierHandler(dashboard(notifier), { prefix: '/dashboard', https })
    return listen(
      t,
      createServer((req, res) => api(req, res, () => pages(req, res))),
    )
  },
  Express: async (t, notifier) => {
    const app = express()
    app.use('/api', notifierRouter(notifier, { https }))
    app.use('/dashboard', notifierRouter(dashboard(notifier), { https }))
    return listen(t, createServer(app))
  },
  Fastify: async (t, notifier) => {
    const app = Fastify()
    app.register(notifierPlugin(notifier, { https }), { prefix: '/api' })
    app.register(notifierPlugin(dashboard(notifier), { https }), { prefix: '/dashboard' })
    t.after(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  Koa: async (t, notifier) => {
    const app = new Koa()
    app.use(notifierMiddleware(notifier, { prefix: '/api', https }))
    app.use(notifierMiddleware(dashboard(notifier), { prefix: '/dashboard', https }))
    return listen(t, createServer(app.callback()))
  },
  'Request and Response': async (t, notifier) => {
    const api = notifierFetch(notifier, { prefix: '/api', https })
    const pages = notifierFetch(dashboard(notifier), { prefix: '/dashboard', https })
    return serveFetch(t, async (request, remoteAddress) => {
      const connection = { remoteAddress, encrypted: false }
      return (
        (await api(request, connection)) ??
        (await pages(request, connection)) ??
        new Response('Not Found', { status: 404 })
      )
    })
  },
}

for (const [name, start] of Object.entries(servers)) {
  test(`the REST API and the dashboard answer under ${name}`, async (t) => {
    await whileRunning(createNotifier({ channels: { email: quiet } }), async (notifier) => {
      const { secret } = await notifier.apiKeys.create({ name: 'matrix', permission: 'Write' })
      const url = await start(t, notifier)
      const post = (/** @type {Record<string, string>} */ headers) =>
        fetch(`${url}/api/v1/notify`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', connection: 'close', ...headers },
          body: JSON.stringify(mail),
        })
      const [without, withKey] = [await post({}), await post({ authorization: `Bearer ${secret}` })]
      assert.deepEqual([without.status, withKey.status], [401, 201])
      assert.partialDeepStrictEqual(await withKey.json(), { status: 'queued' })
      const page = await fetch(`${url}/dashboard/`, { headers: { connection: 'close' } })
      assert.match(await page.text(), /^<!doctype html>/)
    })
  })
}

/**
 * Answers in turn with these statuses, as Postmark's API does.
 *
 * @param {import('node:test').TestContext} t
 * @param {...number} statuses
 */
async function postmarkServer(t, ...statuses) {
  /** @type {string[]} */
  const subjects = []
  const server = createServer(async (request, response) => {
    const mail = /** @type {{ Subject: string }} */ (await json(request))
    subjects.push(mail.Subject)
    response.writeHead(statuses.shift() ?? 500, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ErrorCode: 0, Message: 'OK', MessageID: 'message-1' }))
  })
  const url = await listen(t, server)
  return { url, subjects, close: () => new Promise((resolve) => server.close(resolve)) }
}

/**
 * @param {import('node:test').TestContext} t
 * @param {import('node:http').Server} server
 */
async function listen(t, server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return `http://127.0.0.1:${port}`
}

/**
 * Serves with `Bun.serve` or `Deno.serve`; on Node.js, which has no such server, with that of Hono.
 *
 * @param {import('node:test').TestContext} t
 * @param {(request: Request, address: string | undefined) => Promise<Response>} answer
 * @returns {Promise<string>}
 */
async function serveFetch(t, answer) {
  const { Bun, Deno } = /** @type {any} */ (globalThis)
  const place = { hostname: '127.0.0.1', port: 0 }
  let port
  if (Bun !== undefined) {
    const server = Bun.serve({
      ...place,
      fetch: (/** @type {Request} */ request) => answer(request, server.requestIP(request).address),
    })
    t.after(() => server.stop())
    port = server.port
  } else if (Deno !== undefined) {
    const server = Deno.serve(
      { ...place, onListen() {} },
      (/** @type {Request} */ request, /** @type {any} */ { remoteAddr }) =>
        answer(request, remoteAddr.hostname),
    )
    t.after(() => server.shutdown())
    port = server.addr.port
  } else {
    const server = serveOnNode({
      ...place,
      fetch: (request, { incoming }) => answer(request, incoming.socket.remoteAddress),
    })
    await once(server, 'listening')
    t.after(() => server.close())
    port = /** @type {import('node:net').AddressInfo} */ (server.address()).port
  }
  return `http://127.0.0.1:${port}`
}
