import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const OTHER = 'org_other'

let host: Host
let auth: { authorization: string }
afterEach(() => host.close())

async function start(options: HostOptions = {}): Promise<void> {
  host = await startHost(options)
  auth = await host.key()
}
const api = (options: Call): Promise<Answer> => host.call({ headers: auth, ...options })
const post = (path: string, body: unknown): Promise<Answer> => api({ method: 'POST', path, body })

describe('API keys', () => {
  it.each(['/v1/api-keys', '/admin/api-keys'])('%s: shown once, never listed, dead at once', async (path) => {
    await start()
    const query = path.startsWith('/admin') ? '?orgId=org_default' : ''
    const made = await post(path + query, {
      name: 'ci',
      permission: 'Read Only',
      allowedIps: ['127.0.0.0/8'],
    })
    expect([made.status, made.json]).toMatchObject([
      201,
      { name: 'ci', permission: 'Read Only', organizationId: 'org_default', allowedIps: ['127.0.0.0/8'] },
    ])
    const { id, secret } = made.json as { id: string; secret: string }
    const headers = { authorization: `Bearer ${secret}` }
    const listed = await host.call({ path: path + query, headers })
    expect(listed.status).toBe(200)
    expect(listed.text).toContain(id)
    expect(listed.text).not.toContain(secret)
    expect(listed.text).not.toContain('"secret"')
    expect((await api({ method: 'DELETE', path: `${path}/${id}${query}` })).json).toEqual({ deleted: true })
    expect(codeOf(await host.call({ path: path + query, headers }))).toBe('invalid_api_key')
    expect(codeOf(await api({ method: 'DELETE', path: `${path}/${id}${query}` }))).toBe('not_found')
  })

  it('belong to the organization of the key that makes them; a body that names another is refused', async () => {
    await start()
    await host.notifier.organizations.create({ id: OTHER, name: 'Other' })
    const body = { name: 'k', permission: 'Full Access', id: 'key_mine', secret: 'crl_x' }
    const { json } = await post('/v1/api-keys', body)
    const refused = await post('/v1/api-keys', { ...body, organizationId: OTHER })
    expect(codeOf(refused)).toBe('invalid_parameter')
    expect(json).toMatchObject({ organizationId: 'org_default' })
    expect([json?.id, json?.secret]).not.toEqual(expect.arrayContaining(['key_mine', 'crl_x']))
    const theirs = await host.call({
      path: '/v1/api-keys',
      headers: await host.key('Full Access', OTHER),
    })
    expect(theirs.json?.items).toHaveLength(1)
  })

  it.each([
    [{}, 422, 'missing_required_field'],
    [{ name: 'k', permission: 'Root' }, 400, 'invalid_parameter'],
    [{ name: 'k', permission: 'Write', expiresAt: 'tomorrow' }, 400, 'invalid_parameter'],
    [{ name: 'k', permission: 'Write', expiresAt: '2020-01-01T00:00:00Z' }, 400, 'invalid_parameter'],
    [{ name: 'k', permission: 'Write', allowedIps: ['everywhere'] }, 400, 'invalid_parameter'],
  ])('refuses %j', async (body, status, code) => {
    await start()
    const answer = await post('/v1/api-keys', body)
    expect([answer.status, codeOf(answer)]).toEqual([status, code])
  })

  it.each(['0.0.0.0/0', '192.0.2.1/0', '::ffff:0.0.0.0/96', '::ffff:0:0/96', '::/64', '::/0'])(
    'refuses %s, which restricts nothing, in a list of addresses',
    async (all) => {
      await start()
      const allowedIps = ['192.0.2.1', all]
      const answer = await post('/v1/api-keys', { name: 'k', permission: 'Write', allowedIps })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
      expect(answer.json).toMatchObject({ error: { details: { field: 'allowedIps.1' } } })
    },
  )
})
