import { afterEach, describe, expect, it } from 'vitest'
import { type Plan, UNLIMITED } from '../../../src/core/tenancy/plans.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const ORG = 'org_small'
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' }

let host: Host
afterEach(() => host.close())

/** A host with an organization on the given plan, and a key of it. */
async function limited(plan: Partial<Plan>, options: HostOptions = {}): Promise<{ authorization: string }> {
  host = await startHost({ ...options, plans: { free: { ...UNLIMITED, ...plan } } })
  await host.notifier.organizations.create({ id: ORG, name: 'Small' })
  return host.key('Full Access', ORG)
}

const list = (headers: Record<string, string>): Promise<Answer> =>
  host.call({ path: '/v1/notifications', headers })
const send = (headers: Record<string, string>): Promise<Answer> =>
  host.call({ method: 'POST', path: '/v1/notify', headers, body: mail })

function expectRefused(answer: Answer, resource: string): void {
  expect([answer.status, codeOf(answer)]).toEqual([429, 'rate_limit_exceeded'])
  const wait = Number(answer.headers['retry-after'])
  expect(wait).toBeGreaterThanOrEqual(1)
  expect(answer.json).toMatchObject({ error: { retry_after: wait } })
  expect(answer.headers).toMatchObject({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-resource': resource,
    'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
  })
}

describe('the request limit', () => {
  it('counts down in every answer, refuses with Retry-After, and ends when that is over', async () => {
    const auth = await limited({ requests: { limit: 3, windowMs: 60_000 } })
    for (const remaining of ['2', '1', '0']) {
      const answer = await list(auth)
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-resource': 'requests',
      })
    }
    const refused = await list(auth)
    expectRefused(refused, 'requests')
    host.clock.advance(Number(refused.headers['retry-after']) * 1000)
    expect((await list(auth)).status).toBe(200)
  })

  it('counts failed requests, whatever is wrong with them, and stores nothing of refused ones', async () => {
    const auth = await limited({ requests: { limit: 3, windowMs: 60_000 } })
    const failing = [
      { path: '/v1/nowhere' },
      { path: '/v1/notify' },
      { method: 'POST', path: '/v1/notify', body: '{' },
    ]
    for (const [index, options] of failing.entries()) {
      const answer = await host.call({ ...options, headers: auth })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.headers['x-ratelimit-remaining']).toBe(String(2 - index))
    }
    expectRefused(await send(auth), 'requests')
    expect((await host.notifier.organization(ORG).notifications.list()).items).toEqual([])
  })

  it('of one organization is not another’s', async () => {
    const auth = await limited({ requests: { limit: 1, windowMs: 60_000 } })
    expect((await list(auth)).status).toBe(200)
    expectRefused(await list(auth), 'requests')
    expect((await list(await host.key())).status).toBe(200)
  })

  it('of an endpoint is shared by both path families', async () => {
    const auth = await limited({})
    const body = { name: 'x' }
    for (let index = 0; index < 100; index += 1) {
      const path = index % 2 === 0 ? '/v1/templates' : `/admin/templates?orgId=${ORG}`
      const answer = await host.call({ method: 'POST', path, headers: auth, body })
      expect([answer.status, answer.headers['x-ratelimit-resource']]).toEqual([422, 'templates.create'])
    }
    const last = await host.call({ method: 'POST', path: '/v1/templates', headers: auth, body })
    // Twenty more fit into a burst of ten seconds.
    expect([last.status, last.headers['x-ratelimit-remaining']]).toEqual([422, '0'])
  })

  it('of test events applies to an organization without limits', async () => {
    const auth = await limited({})
    const path = '/v1/webhooks/wh_unknown/test'
    for (let index = 0; index < 60; index += 1) {
      const answer = await host.call({ method: 'POST', path, headers: auth })
      expect([answer.status, answer.headers['x-ratelimit-resource']]).toEqual([404, 'webhooks.test'])
    }
    const last = await host.call({ method: 'POST', path, headers: auth })
    expect([last.status, last.headers['x-ratelimit-remaining']]).toEqual([404, '0'])
  })
})

describe('concurrent requests', () => {
  it('give their slots back however they end', async () => {
    const auth = await limited({ concurrentRequests: 1 })
    for (const options of [
      { path: '/v1/nowhere' },
      { method: 'POST', path: '/v1/notify', body: '{' },
      { method: 'POST', path: '/v1/notify', body: mail },
      { path: '/v1/templates?orgId=org_default' },
    ]) {
      expect((await host.call({ ...options, headers: auth })).status).not.toBe(429)
    }
    expect((await list(auth)).status).toBe(200)
  })
})

describe('requests without a valid key', () => {
  it('are limited by address, and do not touch those with one', async () => {
    const auth = await limited({}, { http: { https: 'off', trustedProxies: ['loopback'] } })
    const from = (address: string, headers = {}): Promise<Answer> =>
      list({ authorization: 'Bearer guess', 'x-forwarded-for': address, ...headers })
    let answer = await from('203.0.113.1')
    expect(answer.status).toBe(401)
    expect(answer.headers['x-ratelimit-resource']).toBe('address')
    for (let index = 0; index < 100 && answer.status === 401; index += 1) answer = await from('203.0.113.1')
    expectRefused(answer, 'address')
    expect((await from('203.0.113.2')).status).toBe(401)
    expect((await from('203.0.113.1', auth)).status).toBe(200)
  })
})

describe('the IP list of a key', () => {
  const lists: [allowed: string[], from: string, status: number][] = [
    [['203.0.113.7'], '203.0.113.7', 200],
    [['203.0.113.7'], '203.0.113.8', 403],
    [['203.0.113.0/24', '2001:db8::/32'], '2001:db8::5', 200],
    [['203.0.113.0/24', '2001:db8::/32'], '::ffff:203.0.113.99', 200],
    [['203.0.113.0/24'], 'unknown', 403],
    [[], 'unknown', 200],
  ]
  it.each(lists)('%s from %s is %d', async (allowedIps, from, status) => {
    host = await startHost({ http: { https: 'off', trustedProxies: ['loopback'] } })
    const { secret } = await host.notifier.apiKeys.create({ name: 'ip', permission: 'Read Only', allowedIps })
    const answer = await list({ authorization: `Bearer ${secret}`, 'x-forwarded-for': from })
    expect(answer.status).toBe(status)
    if (status === 403) expect(codeOf(answer)).toBe('ip_not_allowed')
  })

  it('keeps what it refuses from the limits of the organization, and limits it by address', async () => {
    const requests = { limit: 3, windowMs: 60_000 }
    const auth = await limited({ requests }, { http: { https: 'off', trustedProxies: ['loopback'] } })
    const { secret } = await host.notifier
      .organization(ORG)
      .apiKeys.create({ name: 'leaked', permission: 'Full Access', allowedIps: ['203.0.113.7'] })
    const leaked = (from: string): Promise<Answer> =>
      list({ authorization: `Bearer ${secret}`, 'x-forwarded-for': from })
    let answer = await leaked('203.0.113.8')
    expect([answer.status, codeOf(answer)]).toEqual([403, 'ip_not_allowed'])
    expect(answer.headers['x-ratelimit-resource']).toBe('address')
    for (let index = 0; index < 100 && answer.status === 403; index += 1) answer = await leaked('203.0.113.8')
    expectRefused(answer, 'address')
    expect((await list(auth)).headers['x-ratelimit-remaining']).toBe('2')
    expect((await leaked('203.0.113.7')).headers['x-ratelimit-remaining']).toBe('1')
  })

  it('is not fooled by a header that nobody vouches for', async () => {
    host = await startHost({ http: { https: 'off' } })
    const allowedIps = ['203.0.113.7']
    const { secret } = await host.notifier.apiKeys.create({ name: 'ip', permission: 'Read Only', allowedIps })
    const answer = await list({ authorization: `Bearer ${secret}`, 'x-forwarded-for': '203.0.113.7' })
    expect(answer.status).toBe(403)
  })
})

it('maintenance is 503 with Retry-After', async () => {
  host = await startHost()
  const auth = await host.key()
  host.notifier.maintenance(true)
  const answer = await send(auth)
  expect([answer.status, codeOf(answer)]).toEqual([503, 'service_unavailable'])
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
  host.notifier.maintenance(false)
  expect((await send(auth)).status).toBe(201)
})
