import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { verifyWebhook } from '../../src/webhook-receiver/index.ts'
import { eventually } from '../support/eventually.ts'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'
import { codeOf } from '../support/http-client.ts'
import { httpReceiver } from '../support/receivers.ts'

/** The whole service once, in Express and over sockets. Each part of the REST API has its own tests in rest/. */
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }

let host: ExpressHost
let request: (method: string, path: string, body?: object, more?: object) => ReturnType<ExpressHost['call']>
beforeEach(async () => {
  host = await startExpressHost({
    mount: '/prefix',
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    before: (app) => {
      app.post('/prefix/health', (_req, res) => void res.json({ host: true }))
    },
  })
  const auth = await host.key()
  request = (method, path, body, more) =>
    host.call({ method, path: `/prefix${path}`, headers: { ...auth, ...more }, body })
})
afterEach(() => host.close())

it('sends by template, once for an idempotency key, and tells what became of it', async () => {
  const template = { name: 'welcome', channel: 'email', subject: 'Hi', body: 'Hello {{name}}' }
  expect((await request('POST', '/v1/templates', template)).status).toBe(201)
  const message = { to: mail.to, template: 'welcome', variables: { name: 'Ada' } }
  const key = { 'idempotency-key': 'once' }
  const [first, again] = [
    await request('POST', '/v1/notify', message, key),
    await request('POST', '/v1/notifications', message, key),
  ]
  expect([first.status, again.json?.id, again.headers['idempotent-replayed']]).toEqual([
    201,
    first.json?.id,
    'true',
  ])
  const record = await eventually(async () => {
    const { json } = await request('GET', `/v1/notifications/${first.json?.id}`)
    return json?.status === 'sent' ? json : null
  })
  expect(record.timeline).toMatchObject([{ event: 'queued' }, { event: 'sent' }])
  expect(host.sent).toMatchObject([{ to: mail.to, body: 'Hello Ada' }])
  const logs = await request('GET', '/admin/logs?orgId=org_default')
  expect(logs.json?.items).toHaveLength(2)
})

it('validates each item of a batch, and counts what it took', async () => {
  const notifications = [mail, { ...mail, to: 'nobody' }, mail]
  const batch = await request('POST', '/v1/notifications/batch', { notifications })
  expect([batch.status, batch.json]).toMatchObject([
    201,
    { accepted: 2, rejected: 1, items: [{}, { error: { code: 'invalid_email' } }, {}] },
  ])
  const limits = await request('GET', '/v1/account/limits')
  expect(limits.json).toMatchObject({ organizationId: 'org_default' })
})

it('posts signed events to a webhook endpoint', async () => {
  const receiver = await httpReceiver((response) => response.end())
  onTestFinished(receiver.close)
  const hook = await request('POST', '/v1/webhooks', { url: `http://127.0.0.1:${receiver.port}/` })
  const { json } = await request('POST', '/v1/notify', mail)
  const { body, headers } = await eventually(() => receiver.requests[0])
  const event = verifyWebhook(body, headers as Record<string, string>, String(hook.json?.secret))
  expect(event).toMatchObject({ event: 'notification.sent', data: { id: json?.id } })
})

it('makes a key that ends at once when it is deleted', async () => {
  const { json } = await request('POST', '/v1/api-keys', { name: 'ci', permission: 'Read Only' })
  const authorization = `Bearer ${json?.secret}`
  const list = () => request('GET', '/v1/templates', undefined, { authorization })
  expect((await list()).status).toBe(200)
  expect(codeOf(await request('POST', '/v1/notify', mail, { authorization }))).toBe(
    'insufficient_permissions',
  )
  await request('DELETE', `/v1/api-keys/${json?.id}`)
  expect(codeOf(await list())).toBe('invalid_api_key')
})

it('refuses under maintenance, and says so to health checks', async () => {
  expect((await host.call({ path: '/prefix/health' })).json).toEqual({ status: 'ok' })
  host.notifier.maintenance(true)
  for (const answer of [
    await request('POST', '/v1/notify', mail),
    await host.call({ path: '/prefix/health' }),
  ])
    expect([answer.status, codeOf(answer)]).toEqual([503, 'service_unavailable'])
})

it('leaves other methods and paths to the application', async () => {
  expect((await request('POST', '/health')).json).toEqual({ host: true })
  for (const path of ['/health/', '/healthz', '/metrics', '/v2/notify']) {
    const answer = await request('GET', path)
    expect([answer.status, answer.headers['x-request-id']], path).toEqual([404, undefined])
  }
})
