import { afterEach, describe, expect, it } from 'vitest'
import { organizationKind } from '../../src/core/tenancy/organization.ts'
import { ROUTES } from '../../src/routes.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { type Host, type HostOptions, startHost } from '../support/express-host.ts'
import { type Answer, type Call, call, codeOf } from '../support/http-client.ts'
import { inMemory } from '../support/in-memory.ts'
import { watchReads } from '../support/record-reads.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' }
const OTHER = 'org_other'

let host: Host
let auth: { authorization: string }
afterEach(() => host.close())

async function start(options: HostOptions = {}): Promise<void> {
  host = await startHost(options)
  auth = await host.key()
}
const api = (options: Call): Promise<Answer> => call(host.port, { headers: auth, ...options })
const post = (path: string, body: unknown): Promise<Answer> => api({ method: 'POST', path, body })

describe('GET /health', () => {
  it('says that it is well, and nothing else, with or without a key', async () => {
    await start({ mount: '/prefix' })
    for (const headers of [{}, auth]) {
      const answer = await call(host.port, { path: '/prefix/health', headers })
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }])
    }
  })

  it('is 503 in maintenance and when the storage does not answer, without a word of why', async () => {
    const storage = inMemory()
    let broken = false
    watchReads(storage, organizationKind, async (inner) => {
      if (broken) throw new Error('connection to db.internal:5432 refused')
      return inner()
    })
    await start({ storage })
    const failing: (() => void)[] = [
      () => host.notifier.maintenance(true),
      () => {
        host.notifier.maintenance(false)
        broken = true
      },
    ]
    for (const fail of failing) {
      fail()
      const answer = await call(host.port, { path: '/health' })
      expect([answer.status, codeOf(answer)]).toEqual([503, 'service_unavailable'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      // The request id is drawn by chance, and may spell anything.
      expect(answer.text.replace(/"request_id":"[^"]+"/, '')).not.toMatch(/db|maintenance|storage/i)
    }
    broken = false
    expect((await call(host.port, { path: '/health' })).status).toBe(200)
  })

  it('is 503 when the storage hangs', async () => {
    const clock = fakeClock()
    const storage = inMemory(clock)
    let asked = false
    let hangs = false
    watchReads(storage, organizationKind, (inner) => {
      if (!hangs) return inner()
      asked = true
      return new Promise<never>(() => {})
    })
    await start({ clock, storage })
    hangs = true
    const answer = call(host.port, { path: '/health' })
    await expect.poll(() => asked).toBe(true)
    await clock.advance(2_000)
    expect([(await answer).status, codeOf(await answer)]).toEqual([503, 'service_unavailable'])
  })

  it('leaves other methods and root paths to the host', async () => {
    await start({
      before: (app) => {
        app.post('/health', (_req, res) => void res.json({ host: true }))
      },
    })
    expect((await call(host.port, { method: 'POST', path: '/health' })).json).toEqual({ host: true })
    for (const [method, path] of [
      ['DELETE', '/openapi.json'],
      ['GET', '/health/'],
      ['GET', '/healthz'],
      ['GET', '/metrics'],
    ] as const) {
      const answer = await call(host.port, { method, path })
      expect([answer.status, answer.headers['x-request-id']], path).toEqual([404, undefined])
    }
  })

  it('needs HTTPS like everything else', async () => {
    await start({ http: { https: 'require' } })
    expect(codeOf(await call(host.port, { path: '/health' }))).toBe('https_required')
  })
})

/** What mails lead to has its own tests: express-tracking.test.ts and express-unsubscribe.test.ts. */
const READERS_LINKS = new Set([
  'askUnsubscribe',
  'unsubscribe',
  'showPreferencePage',
  'savePreferencePage',
  'open',
  'click',
])

describe('maintenance', () => {
  it('is told true or false and nothing else', async () => {
    await start()
    for (const said of [undefined, null, 'on', 1]) {
      expect(() => host.notifier.maintenance(said as never)).toThrow(
        expect.objectContaining({ code: 'invalid_parameter' }),
      )
    }
    expect((await call(host.port, { path: '/health' })).status).toBe(200)
  })

  it('is 503 with Retry-After on every other route, in both forms, and nothing is stored', async () => {
    for (const errorFormat of ['nested', 'flat'] as const) {
      await start({ http: { errorFormat } })
      host.notifier.maintenance(true)
      for (const { method, paths, body, operation } of ROUTES) {
        if (READERS_LINKS.has(operation)) continue
        const path = (paths[0] ?? '').replaceAll(/\{\w+\}/g, 'notif_1')
        const answer = await api({ method, path, ...(body === undefined ? {} : { body: mail }) })
        expect([answer.status, String(codeOf(answer)).toLowerCase()], path).toEqual([
          503,
          'service_unavailable',
        ])
        const wait = Number(answer.headers['retry-after'])
        expect(wait).toBeGreaterThanOrEqual(1)
        expect(answer.headers).toMatchObject({
          'x-ratelimit-limit': '0',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-resource': 'service',
        })
        const { date = '', 'x-ratelimit-reset': reset } = answer.headers
        expect(Number(reset) - Date.parse(date) / 1000).toBeGreaterThanOrEqual(wait)
      }
      host.notifier.maintenance(false)
      expect((await host.notifier.notifications.list()).items).toEqual([])
      if (errorFormat === 'nested') await host.close()
    }
  })
})

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
    const listed = await call(host.port, { path: path + query, headers })
    expect(listed.status).toBe(200)
    expect(listed.text).toContain(id)
    expect(listed.text).not.toContain(secret)
    expect(listed.text).not.toContain('"secret"')
    expect((await api({ method: 'DELETE', path: `${path}/${id}${query}` })).json).toEqual({ deleted: true })
    expect(codeOf(await call(host.port, { path: path + query, headers }))).toBe('invalid_api_key')
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
    const theirs = await call(host.port, {
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

describe('webhook endpoints', () => {
  it('show their secret once', async () => {
    await start()
    const url = 'https://example.com/hook'
    const made = await post('/v1/webhooks', { url, events: ['notification.failed'] })
    expect([made.status, made.json]).toMatchObject([
      201,
      { url, events: ['notification.failed'], status: 'active' },
    ])
    const { id, secret } = made.json as { id: string; secret: string }
    expect(secret).toMatch(/^whsec_/)
    for (const path of ['/v1/webhooks', `/v1/webhooks/${id}`]) {
      const answer = await api({ path })
      expect(answer.text).toContain(id)
      expect(answer.text).not.toMatch(/whsec_|"secret"/)
    }
    expect((await api({ method: 'DELETE', path: `/v1/webhooks/${id}` })).json).toEqual({ deleted: true })
    expect(codeOf(await api({ path: `/v1/webhooks/${id}` }))).toBe('not_found')
  })

  it.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://u:p@example.com/',
    'https://[::1]/',
    'nonsense',
  ])('are not registered at %s', async (url) => {
    await start()
    const answer = await post('/v1/webhooks', { url })
    expect([answer.status, codeOf(answer)]).toEqual([422, 'blocked_address'])
    if (/127|::1/.test(url)) expect(answer.text).toContain('webhooks.allow')
    expect((await host.notifier.webhooks.list()).items).toEqual([])
  })
})

const withBody = ROUTES.filter(({ body }) => body !== undefined)

describe('another organization in a body', () => {
  const ofOrganizations = withBody.filter(({ belongsTo }) => belongsTo !== 'operator')
  it.each(ofOrganizations)('of $operation is refused, and the own one is not', async ({ method, paths }) => {
    await start()
    for (const path of paths) {
      const query = path.startsWith('/admin') ? '?orgId=org_default' : ''
      const named = (organizationId: unknown) =>
        api({
          method,
          path: path.replaceAll(/\{\w+\}/g, 'notif_1') + query,
          body: { organizationId },
        })
      for (const other of ['org_b', '', null, 5]) {
        const answer = await named(other)
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
        expect(answer.json).toMatchObject({ error: { details: { field: 'organizationId' } } })
      }
      expect((await named('org_default')).text).not.toContain('another organization')
    }
  })
})

describe('unknown fields of a body', () => {
  it.each(withBody)(
    'of $operation are refused where the option says so, and named',
    async ({ method, paths, belongsTo }) => {
      await start({ http: { strictBody: true } })
      if (belongsTo === 'operator') auth = await host.operatorKey()
      for (const path of paths) {
        const query = path.startsWith('/admin') ? '?orgId=org_default' : ''
        const answer = await api({
          method,
          path: path.replaceAll(/\{\w+\}/g, 'notif_1') + query,
          body: { surprise: 1, 'another\u0000one': null },
        })
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
        expect(answer.json).toMatchObject({
          error: { details: { field: 'surprise', fields: ['surprise', 'another\u0000one'] } },
        })
      }
    },
  )

  it('are refused in a batch for the item that has them', async () => {
    await start({ http: { strictBody: true } })
    const notifications = [
      mail,
      { ...mail, bodyy: 'typo' },
      { ...mail, variables: { anything: { goes: 1 } } },
    ]
    const { status, json } = await post('/v1/notifications/batch', { notifications })
    expect([status, json?.accepted]).toEqual([201, 2])
    expect(json?.items).toMatchObject([
      {},
      { error: { code: 'invalid_parameter', details: { field: 'bodyy' } } },
      {},
    ])
  })

  it('are refused in test mode, as the send would be', async () => {
    await start({ http: { strictBody: true } })
    const headers = { ...auth, 'x-test-mode': 'true' }
    const answer = await api({ method: 'POST', path: '/v1/notify', headers, body: { ...mail, bodyy: 1 } })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  })

  it('are ignored by default', async () => {
    await start()
    expect((await post('/v1/notify', { ...mail, surprise: 1 })).status).toBe(201)
    const batch = await post('/v1/notifications/batch', {
      notifications: [{ ...mail, surprise: 1 }],
      more: 1,
    })
    expect(batch.json).toMatchObject({ accepted: 1 })
  })

  it.each([
    ['idempotencyKey', 'Idempotency-Key'],
    ['idempotency_key', 'Idempotency-Key'],
    ['from', 'email'],
    ['cc', 'recipient'],
    ['tags', 'metadata'],
  ])('of a message that belong elsewhere are always refused: %s', async (field, place) => {
    await start()
    const wrong = { ...mail, [field]: 'x' }
    const alone = await post('/v1/notify', wrong)
    expect([alone.status, codeOf(alone)]).toEqual([400, 'invalid_parameter'])
    expect(alone.text).toContain(place)
    const batch = await post('/v1/notifications/batch', { notifications: [wrong, mail] })
    expect(batch.json?.items).toMatchObject([{ error: { details: { field } } }, { status: 'queued' }])
    const around = await post('/v1/notifications/batch', { notifications: [mail], [field]: 'x' })
    expect([around.status, codeOf(around)]).toEqual([400, 'invalid_parameter'])
  })

  it('of a template are ignored, also where a message could not have them', async () => {
    await start()
    const template = { name: 'hi', channel: 'email', body: 'Hi', tags: ['x'], from: 'x' }
    expect((await post('/v1/templates', template)).status).toBe(201)
  })

  it('named like members of every object are unknown, too', async () => {
    await start({ http: { strictBody: true } })
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const answer = await api({
        method: 'POST',
        path: '/v1/notify',
        headers: { ...auth, 'content-type': 'application/json' },
        body: `{"channel":"email","to":"ada@example.com","body":"Hi","${name}":{}}`,
      })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
    }
  })
})
