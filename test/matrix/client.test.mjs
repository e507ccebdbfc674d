// The client on each runtime's own fetch: see scripts/test-runtimes.mjs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'node:test'
import { createNotifier } from 'carillon'
import { CarillonError, createClient } from 'carillon/client'
import { notifierHandler } from 'carillon/node'
import { whileRunning } from './running.mjs'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' }
const quiet = { name: 'quiet', send: async () => ({ kind: /** @type {const} */ ('accepted') }) }

test('the client sends, reads pages, uploads, and gives the errors of the service', async (t) => {
  await whileRunning(createNotifier({ channels: { email: quiet } }), async (notifier) => {
    const { secret: apiKey } = await notifier.apiKeys.create({
      name: 'test',
      permission: 'Full Access',
      grants: ['content'],
    })
    const url = await listening(t, notifierHandler(notifier, { https: 'allow-loopback' }))
    const client = createClient({ url, apiKey })
    const key = { idempotencyKey: 'one' }
    const { id } = await client.send(mail, key)
    const again = await client.send(mail, key)
    assert.deepEqual([again.id, again.replayed], [id, true])
    await client.send(mail)
    const found = []
    for await (const each of client.notifications.list({ limit: 1 })) found.push(each.id)
    assert.equal(found.length, 2)
    assert.equal((await client.notifications.list({ limit: 1 })).items.length, 1)
    const lines = []
    for await (const { type } of await client.people.export({ channel: 'email', to: mail.to }))
      lines.push(type)
    assert.deepEqual(lines, ['notification', 'notification'])
    const file = { filename: 'a.txt', contentType: 'text/plain' }
    for (const content of [new Blob(['Hi']), new Uint8Array([72, 105]), 'SGk='])
      assert.equal((await client.attachments.upload(content, file)).size, 2)
    await assert.rejects(client.templates.get('none'), { code: 'template_not_found', status: 404 })
  })
})

test('the client repeats, follows no redirect, ends in time, and when it is told to', async (t) => {
  let requests = 0
  const url = await listening(t, (request, response) => {
    requests += 1
    if (request.url === '/moved/health') response.writeHead(301, { location: 'https://example.com/' }).end()
    else if (request.url === '/slow/health') response.write(' ')
    else if (requests < 2) request.socket.destroy()
    else if (requests < 3) response.writeHead(503, { 'retry-after': '0' }).end('{}')
    else response.writeHead(200).end('{"status":"ok"}')
  })
  const apiKey = 'crl_key'
  assert.deepEqual(await createClient({ url, apiKey }).health(), { status: 'ok' })
  assert.equal(requests, 3)
  const moved = { code: 'unexpected_answer', status: 301 }
  await assert.rejects(createClient({ url: `${url}/moved`, apiKey }).health(), moved)
  const slow = createClient({ url: `${url}/slow`, apiKey })
  await assert.rejects(slow.health({ timeoutMs: 200 }), (error) => {
    return error instanceof CarillonError && error.code === 'timeout'
  })
  const controller = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(slow.health({ signal: controller.signal }), (error) => error === reason)
})

/**
 * @param {{ after(end: () => void): void }} t
 * @param {import('node:http').RequestListener} listener
 */
async function listening(t, listener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
}
