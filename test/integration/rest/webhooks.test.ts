import { afterEach, expect, it, onTestFinished } from 'vitest'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { httpReceiver } from '../../support/receivers.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

async function start() {
  host = await startHost({ webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } })
  const headers = await host.key('Full Access')
  const request = (method: string, path: string, body?: object): Promise<Answer> =>
    host.call({ method, path: `/v1/webhooks${path}`, headers, body })
  const receiver = await httpReceiver((response, { body }) => response.end(body))
  onTestFinished(receiver.close)
  const created = await request('POST', '', { url: `http://127.0.0.1:${receiver.port}/` })
  return { request, id: String(created.json?.id), secret: created.json?.secret }
}

it('the secret of a webhook endpoint is shown once', async () => {
  const { request } = await start()
  const url = 'https://example.com/hook'
  const made = await request('POST', '', { url, events: ['notification.failed'] })
  expect([made.status, made.json]).toMatchObject([
    201,
    { url, events: ['notification.failed'], status: 'active' },
  ])
  const { id, secret } = made.json as { id: string; secret: string }
  expect(secret).toMatch(/^whsec_/)
  for (const path of ['', `/${id}`]) {
    const answer = await request('GET', path)
    expect(answer.text).toContain(id)
    expect(answer.text).not.toMatch(/whsec_|"secret"/)
  }
  expect((await request('DELETE', `/${id}`)).json).toEqual({ deleted: true })
  expect(codeOf(await request('GET', `/${id}`))).toBe('not_found')
})

it.each([
  'http://example.com/',
  'https://127.0.0.1/',
  'https://u:p@example.com/',
  'https://[::1]/',
  'nonsense',
])('no webhook endpoint is registered at %s', async (url) => {
  host = await startHost()
  const headers = await host.key()
  const answer = await host.call({ method: 'POST', path: '/v1/webhooks', headers, body: { url } })
  expect([answer.status, codeOf(answer)]).toEqual([422, 'blocked_address'])
  if (/127|::1/.test(url)) expect(answer.text).toContain('webhooks.allow')
  expect((await host.notifier.webhooks.list()).items).toEqual([])
})

it('a webhook endpoint is changed, rotated and tested over REST', async () => {
  const { request, id, secret } = await start()
  const changed = await request('PATCH', `/${id}`, { events: ['notification.failed'], status: 'disabled' })
  expect([changed.status, changed.json?.events, changed.json?.disabledReason]).toEqual([
    200,
    ['notification.failed'],
    'manual',
  ])
  const blocked = await request('PATCH', `/${id}`, { url: 'https://10.0.0.1/' })
  expect([blocked.status, codeOf(blocked)]).toEqual([422, 'blocked_address'])
  const rotated = await request('POST', `/${id}/rotate-secret`, { overlapMs: 0 })
  expect(rotated.status).toBe(200)
  expect(rotated.json?.secret).toMatch(/^whsec_/)
  expect(rotated.json?.secret).not.toBe(secret)
  const again = await request('POST', `/${id}/rotate-secret`)
  expect([again.status, again.json?.secret === rotated.json?.secret]).toEqual([200, false])
  expect(codeOf(await request('PATCH', `/${id}`))).toBe('invalid_json')
  const tested = await request('POST', `/${id}/test`)
  expect([tested.status, tested.json]).toMatchObject([200, { succeeded: true, status: 200 }])
  expect(String(tested.json?.response)).toContain('webhook.test')
})

it('what was held for a webhook endpoint is listed and redelivered over REST', async () => {
  const { request, id } = await start()
  const { notifier, clock } = host
  await request('PATCH', `/${id}`, { status: 'disabled' })
  const sent = new Promise((resolve) => notifier.on('notification.sent', resolve))
  await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
  await sent
  const since = new Date(clock.now() - 60_000).toISOString()
  const refused = await request('POST', `/${id}/redeliver`, { since })
  expect([refused.status, codeOf(refused)]).toEqual([409, 'endpoint_disabled'])
  const held = await request('GET', `/${id}/deliveries?status=held`)
  expect(held.json?.items).toMatchObject([{ event: 'notification.sent', status: 'held', attempts: [] }])
  await request('PATCH', `/${id}`, { status: 'active' })
  expect((await request('POST', `/${id}/redeliver`, { since })).json).toEqual({ redelivered: 1 })
  const wrong = await request('GET', `/${id}/deliveries?status=lost`)
  expect([wrong.status, codeOf(wrong)]).toEqual([400, 'invalid_parameter'])
  const empty = await request('POST', `/${id}/redeliver`, {})
  expect([empty.status, codeOf(empty)]).toEqual([422, 'missing_required_field'])
})
