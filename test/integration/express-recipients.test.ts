import { afterEach, expect, it } from 'vitest'
import { type Host, startHost } from '../support/express-host.ts'
import { call } from '../support/http-client.ts'

let host: Host
afterEach(() => host.close())

it('a send to several addresses of one person answers with its group, also when it is replayed', async () => {
  const email = ['ada@example.com', 'ada@example.org']
  const resolve = (ids: readonly string[]) => new Map(ids.map((id) => [id, { channels: { email } }]))
  host = await startHost({ recipients: { resolve } })
  const headers = { ...(await host.key()), 'idempotency-key': 'once' }
  const body = { channel: 'email', recipient: 'user:42', subject: 'Hi', body: 'Hi' }
  const request = { method: 'POST', path: '/v1/notifications', headers, body }
  const first = await call(host.port, request)
  expect([first.status, first.json]).toMatchObject([
    201,
    { groupId: expect.stringMatching(/^grp_/), ids: [first.json?.id, expect.stringMatching(/^notif_/)] },
  ])
  const replayed = await call(host.port, request)
  expect([replayed.headers['idempotent-replayed'], replayed.json]).toEqual(['true', first.json])
})
