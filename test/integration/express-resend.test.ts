import { afterEach, expect, it } from 'vitest'
import { type Host, startHost } from '../support/express-host.ts'
import { call, codeOf } from '../support/http-client.ts'

let host: Host
afterEach(() => host.close())

it('POST /v1/notifications/{id}/resend makes a new notification, and one for each idempotency key', async () => {
  host = await startHost()
  const auth = await host.key('Write')
  const { id } = await host.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
  const path = `/v1/notifications/${id}/resend`
  const headers = { ...auth, 'idempotency-key': 'again' }
  const first = await call(host.port, { method: 'POST', path, headers })
  const second = await call(host.port, { method: 'POST', path, headers })
  expect([first.status, first.json?.to, first.json?.status]).toEqual([201, 'ada@example.com', 'queued'])
  expect(first.headers).not.toHaveProperty('idempotent-replayed')
  expect([second.status, second.json, second.headers['idempotent-replayed']]).toEqual([
    201,
    first.json,
    'true',
  ])
  const record = await call(host.port, { path: `/v1/notifications/${first.json?.id}`, headers: auth })
  expect(record.json?.resendOf).toBe(id)
  const unknown = await call(host.port, { method: 'POST', path: '/v1/notifications/notif_1/resend', headers })
  expect([unknown.status, codeOf(unknown)]).toEqual([422, 'idempotency_key_reused'])
})
