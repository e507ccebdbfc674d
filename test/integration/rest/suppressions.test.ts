import { afterEach, expect, it } from 'vitest'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

const PATH = '/v1/suppressions'

async function start() {
  host = await startHost()
  const headers = await host.key('Full Access')
  return (method: string, path: string, body?: object): Promise<Answer> =>
    host.call({ method, path, headers, body })
}

it('a recipient is suppressed, listed and let through again over REST', async () => {
  const request = await start()
  const mail = { channel: 'email', to: 'Ada@example.com', body: 'Hi' }
  const input = { channel: 'email', to: 'ada@Example.com', reason: 'unsubscribe', source: 'preferences' }
  const added = await request('POST', PATH, input)
  expect([added.status, added.json]).toEqual([
    201,
    { ...input, to: 'ada@example.com', createdAt: added.json?.createdAt },
  ])
  expect((await request('POST', PATH, { ...input, reason: 'manual' })).json).toEqual(added.json)
  const refused = await request('POST', '/v1/notify', mail)
  expect([refused.status, codeOf(refused)]).toEqual([422, 'unsubscribed'])
  expect(refused.json).toMatchObject({ error: { details: { field: 'to' } } })
  const batch = await request('POST', '/v1/notifications/batch', { notifications: [mail] })
  expect([batch.status, batch.json]).toMatchObject([
    201,
    { rejected: 1, items: [{ error: { code: 'unsubscribed' } }] },
  ])
  const listed = await request('GET', `${PATH}?channel=email&limit=1`)
  expect([listed.status, listed.json]).toMatchObject([200, { items: [added.json], hasMore: false }])
  expect((await request('GET', `${PATH}?channel=sms`)).json?.items).toEqual([])
  const removed = await request('DELETE', `${PATH}?channel=email&to=ada%40example.com`)
  expect([removed.status, removed.json]).toEqual([200, { deleted: true }])
  const again = await request('DELETE', `${PATH}?channel=email&to=ada%40example.com`)
  expect([again.status, codeOf(again)]).toEqual([404, 'not_found'])
  expect((await request('POST', '/v1/notify', mail)).status).toBe(201)
})

it('recipients with odd characters are removed as they were added', async () => {
  const request = await start()
  const recipients = [
    ['sms', '+14155550123'],
    ['slack', '#général'],
    ['webhook', 'https://example.com/a/../b?x=1&to=2#%2F'],
    ['push', 'a/b.c\\d?e&f=g+h%20i;j☃'],
    ['email', "o'b+x/y?z=1&a@example.com"],
  ] as const
  for (const [channel, to] of recipients) {
    expect((await request('POST', PATH, { channel, to })).status, to).toBe(201)
  }
  const { items } = await host.notifier.suppressions.list()
  expect(items.map(({ channel, to }) => [channel, to])).toEqual(recipients.toReversed())
  for (const [channel, to] of recipients) {
    const query = new URLSearchParams({ channel, to })
    expect((await request('DELETE', `${PATH}?${query}`)).status, to).toBe(200)
  }
  expect((await host.notifier.suppressions.list()).items).toEqual([])
})

it('what names no recipient is refused', async () => {
  const request = await start()
  const cases = [
    ['DELETE', '', 422, 'missing_required_field'],
    ['DELETE', '?channel=email', 422, 'missing_required_field'],
    ['DELETE', '?to=ada%40example.com', 422, 'missing_required_field'],
    ['DELETE', '?channel=Pigeon&to=x', 422, 'invalid_channel'],
    // It may have been configured once.
    ['DELETE', '?channel=pigeon&to=x', 404, 'not_found'],
    ['DELETE', '?channel=email&to=a&to=b', 400, 'invalid_parameter'],
    ['GET', '?channel=Pigeon', 422, 'invalid_channel'],
    ['GET', '?cursor=!', 400, 'invalid_parameter'],
  ] as const
  for (const [method, query, status, code] of cases) {
    const answer = await request(method, PATH + query)
    expect([method, query, answer.status, codeOf(answer)]).toEqual([method, query, status, code])
  }
  const wrong = await request('POST', PATH, { channel: 'email', to: 'nobody' })
  expect([wrong.status, codeOf(wrong)]).toEqual([422, 'invalid_email'])
})
