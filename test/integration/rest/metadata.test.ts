import { afterEach, beforeEach, expect, it } from 'vitest'
import { codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }

let host: Host
let headers: { authorization: string }

beforeEach(async () => {
  host = await startHost({ http: { strictBody: true } })
  headers = await host.key()
})
afterEach(() => host.close())

const send = (metadata: unknown) =>
  host.call({ method: 'POST', path: '/v1/notifications', headers, body: { ...mail, metadata } })

it('is sent, returned and filtered by over REST', async () => {
  const { json } = await send({ order: '4711', 'shop.id': 'a & b' })
  await send({ order: '4712' })
  const found = await host.call({ path: `/v1/notifications/${json?.id}`, headers })
  expect(found.json).toMatchObject({ metadata: { order: '4711', 'shop.id': 'a & b' } })
  for (const query of [
    'metadata[order]=4711',
    'metadata%5Border%5D=4711&metadata%5Bshop.id%5D=a%20%26%20b',
    'metadata[order]=4711&channel=email',
  ]) {
    const list = await host.call({ path: `/v1/notifications?${query}`, headers })
    expect(list.json).toMatchObject({ items: [{ id: json?.id }], hasMore: false })
    const log = await host.call({ path: `/v1/logs?${query}`, headers })
    const entries = log.json?.items as { notificationId: string }[]
    expect(new Set(entries.map(({ notificationId }) => notificationId))).toEqual(new Set([json?.id]))
    const dead = await host.call({ path: `/v1/dead-letters?${query}`, headers })
    expect(dead.json).toMatchObject({ items: [] })
  }
  const none = await host.call({
    path: '/v1/notifications?metadata[order]=4711&metadata[shop.id]=b',
    headers,
  })
  expect(none.json).toMatchObject({ items: [] })
})

it('names a wrong pair', async () => {
  const answer = await send({ order: 4711 })
  expect([answer.status, codeOf(answer)]).toEqual([422, 'invalid_parameter'])
  expect(answer.text).toContain('metadata.order')
})

it.each([
  'metadata[a b]=1',
  'metadata[__proto__]=1',
  'metadata=order',
  'metadata[order]=1&metadata[order]=2',
  'metadata[]=1',
  'other[order]=1',
])('refuses a wrong filter: %s', async (query) => {
  for (const list of ['notifications', 'logs', 'dead-letters']) {
    const answer = await host.call({ path: encodeURI(`/v1/${list}?${query}`), headers })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  }
})

it('is described as an object in the query', async () => {
  const { json } = await host.call({ path: '/openapi.json', headers })
  const { parameters } = (
    json as never as { paths: Record<string, { get: { parameters: { name?: string }[] } }> }
  ).paths['/v1/notifications']!.get
  expect(parameters.find(({ name }) => name === 'metadata')).toMatchObject({
    in: 'query',
    style: 'deepObject',
    explode: true,
    schema: { type: 'object' },
  })
})
