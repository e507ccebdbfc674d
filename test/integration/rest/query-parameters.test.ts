import { afterEach, expect, it } from 'vitest'
import { codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

it.each([
  ['/v1/notifications?stauts=failed&limit=5', 'stauts'],
  ['/v1/logs?orgId=org_default&Status=failed&b%0D%0Aa%C3%BC=1', 'Status, b%0D%0Aa%C3%BC'],
  ['/v1/account/limits?verbose=1', 'verbose'],
  ['/v1/notifications/notif_1?limit=1', 'limit'],
  ['/health?orgId=org_default', 'orgId'],
  ['/click?t=x&utm_source=mail', 'utm_source'],
])('names ignored parameters in a header: %s', async (path, names) => {
  host = await startHost()
  const answer = await host.call({ path, headers: await host.key() })
  expect(answer.headers['x-ignored-parameters']).toBe(names)
})

it('leaves the header out where all were read, and bounds it', async () => {
  host = await startHost()
  const headers = await host.key()
  const read = await host.call({ path: '/v1/notifications?status=failed&orgId=org_default', headers })
  expect(read.headers).not.toHaveProperty('x-ignored-parameters')
  const many = Array.from({ length: 200 }, (_, index) => `${'%F0%9F%94%94'.repeat(20)}${index}=1`).join('&')
  const { 'x-ignored-parameters': shown } = (await host.call({ path: `/v1/logs?${many}`, headers })).headers
  expect(String(shown).length).toBeLessThan(600)
  for (const name of String(shown).split(', ')) expect(() => encodeURI(name)).not.toThrow()
})

it.each([
  ['/v1/notifications?stauts=failed', 'stauts', 'did you mean "status"?'],
  ['/v1/notifications?orgid=org_default', 'orgid', 'did you mean "orgId"?'],
  ['/v1/account/limits?verbose=1', 'verbose', 'This operation accepts orgId.'],
  ['/health?colour=1', 'colour', 'This operation accepts none.'],
])('refuses them under strictBody: %s', async (path, name, hint) => {
  host = await startHost({ http: { strictBody: true } })
  const answer = await host.call({ path, headers: await host.key() })
  expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  expect(answer.json).toMatchObject({ error: { details: { field: name } } })
  expect(answer.json).toHaveProperty('error.message', expect.stringContaining(hint))
})

it('never refuses parameters that others add to a link', async () => {
  host = await startHost({ http: { strictBody: true } })
  const answer = await host.call({ path: '/click?t=x&utm_source=mail' })
  expect([answer.status, answer.headers['x-ignored-parameters']]).toEqual([404, 'utm_source'])
})
