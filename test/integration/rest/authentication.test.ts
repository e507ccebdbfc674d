import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const OTHER = 'org_other'

let host: Host
beforeAll(async () => {
  host = await startHost()
  await host.notifier.organizations.create({ id: OTHER, name: 'Other' })
})
afterAll(() => host.close())

const api = (options: Call): Promise<Answer> => host.call(options)
const list = (headers: Call['headers'] = {}): Promise<Answer> => api({ path: '/v1/templates', headers })

describe('SPEC.md, authentication failures', () => {
  it('missing header', async () => {
    const answer = await list()
    expect([answer.status, codeOf(answer)]).toEqual([401, 'missing_authorization'])
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it.each([
    ['no scheme', 'crl_x'],
    ['another scheme', 'Basic YTpi'],
    ['no key', 'Bearer'],
    ['a malformed key', 'Bearer not-a-key'],
    ['a key with a wrong checksum', `Bearer crl_${'0'.repeat(38)}`],
    ['two keys', 'Bearer a b'],
    ['an endless key', `Bearer ${'x'.repeat(5000)}`],
  ])('%s', async (_title, authorization) => {
    const answer = await list({ authorization })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_api_key'])
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it('a header that is there twice, also with the same key', async () => {
    const { authorization } = await host.key()
    const answer = await list({ authorization: [authorization, authorization] as never })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_api_key'])
  })

  it('an unknown key looks like a deleted one', async () => {
    const created = await host.notifier.apiKeys.create({ name: 'gone', permission: 'Write' })
    const headers = { authorization: `bearer ${created.secret}` }
    expect((await list(headers)).status).toBe(200)
    await host.notifier.apiKeys.delete(created.id)
    const answer = await list(headers)
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_api_key'])
  })

  it('an expired key, to the second', async () => {
    const shifted = await startHost()
    try {
      const expiresAt = new Date(shifted.clock.now() + 3_600_000)
      const { secret } = await shifted.notifier.apiKeys.create({
        name: 'short',
        permission: 'Write',
        expiresAt,
      })
      const ask = (): Promise<Answer> =>
        shifted.call({ path: '/v1/templates', headers: { authorization: `Bearer ${secret}` } })
      shifted.clock.advance(3_595_000)
      expect((await ask()).status).toBe(200)
      shifted.clock.advance(5_000)
      const answer = await ask()
      expect([answer.status, codeOf(answer)]).toEqual([401, 'expired_api_key'])
    } finally {
      await shifted.close()
    }
  })

  it('a key in the query is none', async () => {
    const { authorization } = await host.key()
    const answer = await api({ path: `/v1/templates?authorization=${encodeURIComponent(authorization)}` })
    expect(codeOf(answer)).toBe('missing_authorization')
  })
})

describe('organizations', () => {
  it('are named by header or query, or come from the key', async () => {
    const headers = await host.key('Full Access', OTHER)
    const body = { name: 'theirs', channel: 'email', body: 'Hi' }
    expect((await api({ method: 'POST', path: '/v1/templates', headers, body })).status).toBe(201)
    for (const answer of [
      await list(headers),
      await list({ ...headers, 'X-Organization-ID': OTHER }),
      await api({ path: `/v1/templates?orgId=${OTHER}`, headers }),
      await api({ path: `/admin/templates?orgId=${OTHER}`, headers }),
    ]) {
      expect(answer.json).toMatchObject({ items: [{ name: 'theirs' }] })
    }
    expect((await list(await host.key())).json).toMatchObject({ items: [] })
  })

  it('are required under /admin, and must agree', async () => {
    const headers = await host.key()
    for (const path of ['/admin/templates', '/admin/logs', '/admin/templates?orgId=']) {
      const answer = await api({ path, headers: { ...headers, 'x-organization-id': 'org_default' } })
      expect([answer.status, codeOf(answer)]).toEqual([422, 'missing_required_field'])
      expect(answer.text).toContain('orgId')
    }
    const answer = await api({
      path: '/v1/templates?orgId=org_default',
      headers: { ...headers, 'x-organization-id': OTHER },
    })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  })

  it('do not see each other’s resources, but are told whose they are not', async () => {
    const mine = await host.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    const headers = await host.key('Full Access', OTHER)
    const foreign = await api({ path: `/v1/notifications/${mine.id}`, headers })
    expect([foreign.status, codeOf(foreign)]).toEqual([403, 'organization_mismatch'])
    const unknown = await api({ path: '/v1/notifications/notif_1', headers })
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'notification_not_found'])
  })
})

describe('HTTPS', () => {
  const spoofs: Call['headers'][] = [
    {},
    { 'x-forwarded-proto': 'https' },
    { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' },
    { forwarded: 'for=127.0.0.1;proto=https' },
    { 'x-forwarded-ssl': 'on', 'front-end-https': 'on' },
  ]

  it('is required by default, whatever headers claim, before the key is looked at', async () => {
    const strict = await startHost({ http: { https: 'require' } })
    try {
      for (const spoof of spoofs) {
        for (const key of [{}, await strict.key()]) {
          const answer = await strict.call({ path: '/v1/templates', headers: { ...key, ...spoof } })
          expect([answer.status, codeOf(answer)]).toEqual([403, 'https_required'])
          expect(answer.headers).not.toHaveProperty('strict-transport-security')
        }
      }
    } finally {
      await strict.close()
    }
  })

  it('is refused with the option that is missing where a proxy says that it was there', async () => {
    const strict = await startHost({ http: { https: 'require', trustedProxies: ['10.0.0.0/8'] } })
    try {
      for (const [scheme, names] of [
        ['https', true],
        ['http', false],
      ] as const) {
        const headers = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': scheme }
        const { text } = await strict.call({ path: '/v1/templates', headers })
        expect(text.includes('trustedProxies')).toBe(names)
      }
    } finally {
      await strict.close()
    }
  })

  it('may be left out by this machine itself, but not by a proxy on it', async () => {
    const headers = await host.key()
    expect((await list(headers)).status).toBe(200)
    for (const spoof of [
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-forwarded-proto': 'https' },
      { via: '1.1 x' },
    ]) {
      const answer = await list({ ...headers, ...spoof })
      expect([answer.status, codeOf(answer)]).toEqual([403, 'https_required'])
    }
  })

  it('is believed of a trusted proxy', async () => {
    const proxied = await startHost({ http: { https: 'require', trustedProxies: ['loopback'] } })
    try {
      const headers = await proxied.key()
      const ask = (proto: string): Promise<Answer> =>
        proxied.call({
          path: '/v1/templates',
          headers: { ...headers, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': proto },
        })
      const secure = await ask('https')
      expect(secure.status).toBe(200)
      expect(secure.headers['strict-transport-security']).toBe('max-age=31536000')
      expect((await ask('https, http')).status).toBe(403)
      expect((await ask('http')).status).toBe(403)
    } finally {
      await proxied.close()
    }
  })
})
