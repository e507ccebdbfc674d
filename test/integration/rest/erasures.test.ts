import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const ada = { channel: 'email', to: 'ada@example.com' }

let host: Host
beforeAll(async () => {
  host = await startHost()
})
afterAll(() => host.close())

interface Given {
  readonly body?: object
  readonly query?: string
  readonly headers?: Record<string, string>
}

it.each<[string, Given, string, string]>([
  ['a misspelt field', { body: { ...ada, dryrun: true } }, 'dryrun', 'did you mean \\"dryRun\\"?'],
  ['a misspelt field', { body: { ...ada, dry_run: true } }, 'dry_run', 'did you mean \\"dryRun\\"?'],
  ['any unknown field', { body: { ...ada, test: true } }, 'test', 'Unknown field'],
  ['the query', { query: '?dryRun=true' }, 'dryRun', 'This operation accepts orgId.'],
  ['a header', { headers: { 'x-test-mode': 'true' } }, 'X-Test-Mode', 'Remove it'],
])('an erasure that is only a test by %s is refused: %j', async (_where, given, field, hint) => {
  const { body = ada, query = '', headers = {} } = given
  const path = `/v1/erasures${query}`
  const auth = await host.key()
  const answer = await host.call({ method: 'POST', path, headers: { ...auth, ...headers }, body })
  expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  expect(answer.json).toMatchObject({ error: { details: { field } } })
  expect(answer.text).toContain(hint)
  const { json } = await host.call({ path: '/v1/erasures', headers: auth })
  expect(json).toMatchObject({ items: [] })
})

it.each(['/v1/erasures', '/v1/exports'])('%s names the field that says whose', async (path) => {
  const auth = await host.key('Full Access', 'org_default', ['content'])
  const post = (body: object) => host.call({ method: 'POST', path, headers: auth, body })
  const none = await post({})
  expect([none.status, codeOf(none)]).toEqual([422, 'missing_required_field'])
  expect(none.text).toContain('The field \\"recipient\\" is required, or \\"channel\\" and \\"to\\".')
  const both = await post({ ...ada, recipient: 'user:1' })
  expect(both.json).toMatchObject({ error: { code: 'invalid_parameter', details: { field: 'recipient' } } })
})

it('an export refuses unknown fields, too', async () => {
  const headers = await host.key('Full Access', 'org_default', ['content'])
  const answer = await host.call({
    method: 'POST',
    path: '/v1/exports',
    headers,
    body: { ...ada, recipent: 'user:1' },
  })
  expect(answer.json).toMatchObject({ error: { code: 'invalid_parameter', details: { field: 'recipent' } } })
})
