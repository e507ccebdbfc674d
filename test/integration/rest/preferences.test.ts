import { afterEach, expect, it } from 'vitest'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

async function start() {
  host = await startHost()
  const headers = await host.key('Full Access')
  return (method: string, path: string, body?: object): Promise<Answer> =>
    host.call({ method, path, headers, body })
}

it('categories are created, listed, changed and deleted over REST', async () => {
  const request = await start()
  const created = await request('POST', '/v1/categories', { id: 'news', name: 'News', default: false })
  expect([created.status, created.json]).toMatchObject([201, { id: 'news', default: { '*': false } }])
  const again = await request('POST', '/v1/categories', { id: 'news', name: 'News' })
  expect([again.status, codeOf(again)]).toEqual([409, 'category_already_exists'])
  const changed = await request('PATCH', '/v1/categories/news', { formerIds: ['letters'] })
  expect([changed.status, changed.json]).toMatchObject([200, { formerIds: ['letters'] }])
  expect((await request('GET', '/v1/categories/letters')).json).toEqual(changed.json)
  const outdated = await request('PATCH', '/v1/categories/news', { name: 'Old', version: 1 })
  expect([outdated.status, codeOf(outdated)]).toEqual([409, 'version_conflict'])
  const listed = await request('GET', '/v1/categories')
  expect(listed.json).toMatchObject({ items: [{ id: 'default' }, changed.json] })
  const removed = await request('DELETE', '/v1/categories/news')
  expect([removed.status, removed.json]).toEqual([200, { deleted: true }])
  const code = await request('PATCH', '/v1/categories/default', { required: true })
  expect([code.status, codeOf(code)]).toEqual([400, 'invalid_parameter'])
})

it('preferences are read, changed and replaced over REST', async () => {
  const request = await start()
  await request('POST', '/v1/categories', { id: 'news', name: 'News' })
  const path = '/v1/preferences?channel=sms&to=%2B14155550123'
  const none = await request('GET', path)
  expect([none.status, none.json]).toEqual([
    200,
    { channel: 'sms', to: '+14155550123', channels: {}, categories: {}, quietHours: null, updatedAt: null },
  ])
  const changed = await request('PATCH', path, { channels: { sms: false }, categories: { news: true } })
  expect([changed.status, changed.json]).toMatchObject([
    200,
    { channels: { sms: false }, categories: { news: true } },
  ])
  expect((await request('GET', path)).json).toEqual(changed.json)
  expect((await request('PUT', path, {})).json).toMatchObject({ channels: {}, categories: {} })
  const quietHours = { zone: 'Europe/Zurich', windows: [{ days: ['fri'], from: '22:00', to: '07:00' }] }
  expect((await request('PATCH', path, { quietHours })).json).toMatchObject({ quietHours })
  expect((await request('PATCH', path, { quietHours: false })).json).toMatchObject({ quietHours: false })
  expect((await request('PATCH', path, { quietHours: null })).json).toMatchObject({ quietHours: null })
  const person = '/v1/preferences?recipient=user%3A42'
  expect((await request('PATCH', person, { channels: { email: false } })).json).toMatchObject({
    recipient: 'user:42',
    channels: { email: false },
  })
  const own = await request('PATCH', '/v1/preferences/organization', { categories: { news: false } })
  expect([own.status, own.json]).toMatchObject([200, { organization: true, categories: { news: false } }])
  const wrong: [string, object, number, string][] = [
    ['/v1/preferences', {}, 400, 'invalid_parameter'],
    [`${person}&channel=email&to=a%40example.com`, {}, 400, 'invalid_parameter'],
    ['/v1/preferences?channel=email', {}, 422, 'missing_required_field'],
    [person, { quietHours: { ...quietHours, zone: 'Europe/Zürich' } }, 400, 'invalid_parameter'],
    [person, { categories: { nws: true } }, 422, 'unknown_category'],
    [person, { channels: { pigeon: true } }, 422, 'invalid_channel'],
    [person, { channels: { email: 1 } }, 400, 'invalid_parameter'],
  ]
  for (const [at, body, status, code] of wrong) {
    const answer = await request('PATCH', at, body)
    expect([answer.status, codeOf(answer)], `${at} ${JSON.stringify(body)}`).toEqual([status, code])
  }
})
