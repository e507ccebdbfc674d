import { afterEach, expect, it } from 'vitest'
import { codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

it('refusals are listed over REST with the key that sent', async () => {
  host = await startHost()
  const headers = await host.key('Write')
  const me = await host.call({ method: 'GET', path: '/v1/me', headers })
  const mail = { channel: 'email', to: 'ada@', body: 'Hi' }
  const sent = await host.call({ method: 'POST', path: '/v1/notifications', headers, body: mail })
  expect([sent.status, codeOf(sent)]).toEqual([422, 'invalid_email'])
  await host.call({
    method: 'POST',
    path: '/v1/notifications/batch',
    headers,
    body: {
      notifications: [
        mail,
        { ...mail, to: 'bob@example.com', email: { cc: 7 } },
        { ...mail, to: 'bob@example.com' },
      ],
    },
  })
  const reader = await host.key('Read Only')
  const list = (query = '') => host.call({ method: 'GET', path: `/v1/refusals${query}`, headers: reader })
  const listed = await list()
  const sentBy = { id: me.json?.id, name: me.json?.name }
  expect([listed.status, listed.json]).toMatchObject([
    200,
    {
      items: [
        { to: 'bob@example.com', code: 'invalid_parameter', channel: 'email', count: 1, sentBy },
        { to: null, code: 'invalid_email', field: 'to', channel: 'email', count: 2, sentBy },
      ],
      hasMore: false,
      nextCursor: null,
    },
  ])
  expect((await list('?to=BOB%40example.com&channel=email&code=invalid_parameter')).json?.items).toHaveLength(
    1,
  )
  expect((await list('?recipient=user%3A42')).json?.items).toEqual([])
  expect(codeOf(await list('?channel=fax'))).toBe('invalid_channel')
})
