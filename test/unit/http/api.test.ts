import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Served } from '../../../src/core/lifecycle/notifier-internals.ts'
import { REQUESTS } from '../../../src/core/limits/route-limits.ts'
import { TEMPLATE_LISTS } from '../../../src/core/text/routes.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { HttpApiOptions } from '../../../src/http/options.ts'
import { serve } from '../../../src/rest-api.ts'
import { emptyList, fakeNotifier, json, KEY, LIMIT, request } from './support.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const working = fakeNotifier({ templates: { list: async () => emptyList } })

describe('an answer', () => {
  it('carries the headers that every answer has', async () => {
    const response = await serve(working).handle(request())
    expect(response).toMatchObject({ status: 200, body: JSON.stringify(emptyList) })
    expect(response?.headers).toEqual({
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(JSON.stringify(emptyList).length),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': expect.stringMatching(/^req_/),
      'Strict-Transport-Security': 'max-age=31536000',
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '9',
      'X-RateLimit-Reset': '1800000000',
      'X-RateLimit-Resource': 'requests',
    })
  })

  it('counts bytes, not characters', async () => {
    const list = async () => ({ ...emptyList, nextCursor: 'ä€😀' })
    const response = await serve(fakeNotifier({ templates: { list } })).handle(request())
    expect(response?.headers['Content-Length']).toBe(String(Buffer.byteLength(response?.body as string)))
  })

  it('makes no promise about HTTPS over plain HTTP', async () => {
    const response = await serve(working, { https: 'off' }).handle(request({ encrypted: false }))
    expect(response?.headers).not.toHaveProperty('Strict-Transport-Security')
  })

  it('to HEAD is that to GET without its body', async () => {
    const response = await serve(working).handle(request({ method: 'HEAD' }))
    expect(response).toMatchObject({ status: 200, body: null })
    expect(response?.headers['Content-Length']).toBe(String(JSON.stringify(emptyList).length))
  })

  it('names the request in the header and in an error alike', async () => {
    const response = await serve(working).handle(request({ path: '/v1/nowhere' }))
    expect(response?.status).toBe(404)
    expect((json(response).error as { request_id: string }).request_id).toBe(
      response?.headers['X-Request-Id'],
    )
  })

  it.each(['%00', '%', '..', 'a%2Fb'])(
    'to the impossible identifier %s is 404, and nobody is asked',
    async (id) => {
      const response = await serve(working).handle(request({ path: `/v1/templates/${id}` }))
      expect(response?.status).toBe(404)
      expect(json(response)).toMatchObject({ error: { code: 'template_not_found' } })
    },
  )

  it('is none for paths of the host', () => {
    expect(serve(working).handle(request({ path: '/orders' }))).toBeNull()
  })
})

describe('the order of checks', () => {
  // Each row repairs the fault of the row before, so that the next check becomes the first to fail.
  const order = [
    { fault: 'HTTPS', expected: [403, 'https_required'], encrypted: false },
    { fault: 'authentication', expected: [401, 'missing_authorization'], encrypted: true, authorization: '' },
    { fault: 'IP list', expected: [403, 'ip_not_allowed'], authorization: 'Bearer elsewhere' },
    { fault: 'request limit', expected: [429, 'rate_limit_exceeded'], authorization: 'Bearer limited' },
    { fault: 'permission', expected: [403, 'insufficient_permissions'], authorization: 'Bearer read' },
    { fault: 'organization', expected: [403, 'organization_mismatch'], authorization: 'Bearer full' },
    { fault: 'media type', expected: [415, 'unsupported_media_type'], organization: 'org_default' },
    { fault: 'body', expected: [400, 'invalid_json'], type: 'application/json' },
    { fault: 'idempotency key', expected: [400, 'invalid_parameter'], body: '{"to":"x"}' },
    { fault: 'the operation', expected: [422, 'invalid_email'], idempotencyKey: 'k' },
  ]
  const api = serve(
    fakeNotifier({
      verify: async (secret) => ({
        ...KEY,
        organizationId: secret === 'limited' || secret === 'elsewhere' ? 'org_limited' : KEY.organizationId,
        allowedIps: secret === 'elsewhere' ? ['203.0.113.0/24'] : [],
        permission: secret === 'full' ? 'Full Access' : 'Read Only',
      }),
      admit: async (who) => {
        if ('organizationId' in who && who.organizationId === 'org_limited') {
          throw new NotifierError('rate_limit_exceeded')
        }
        return { state: LIMIT, release: async () => {} }
      },
      send: async () => {
        throw new NotifierError('invalid_email')
      },
    }),
  )
  it.each(order.map((row, index) => [row.fault, index, row.expected] as const))(
    '%s',
    async (_fault, index, [status, code]) => {
      const state = Object.assign(
        {
          encrypted: false,
          authorization: '',
          organization: 'org_x',
          type: 'text/plain',
          body: '{',
          idempotencyKey: 'a b',
        },
        ...order.slice(0, index + 1),
      )
      const response = await api.handle(
        request({
          method: 'POST',
          path: '/v1/notify',
          encrypted: state.encrypted,
          headers: {
            authorization: state.authorization,
            'x-organization-id': state.organization,
            'content-type': state.type,
            'idempotency-key': state.idempotencyKey,
          },
          body: state.body,
        }),
      )
      expect([response?.status, (json(response).error as { code: string }).code]).toEqual([status, code])
    },
  )

  it('does not ask for a key before HTTPS, nor read a body before permission', async () => {
    const verify = vi.fn(async () => ({ ...KEY, permission: 'Read Only' as const }))
    const secured = serve(fakeNotifier({ verify }))
    await secured.handle(request({ encrypted: false }))
    expect(verify).not.toHaveBeenCalled()
    const incoming = request({ method: 'POST', path: '/v1/notify' })
    const readBody = vi.spyOn(incoming, 'readBody')
    expect((await secured.handle(incoming))?.status).toBe(403)
    expect(readBody).not.toHaveBeenCalled()
  })

  it('asks for a key before it says what exists', async () => {
    for (const path of ['/v1/nowhere', '/v1/notify']) {
      const response = await serve(working).handle(request({ path, headers: { authorization: '' } }))
      expect(response?.status).toBe(401)
      expect(response?.headers['WWW-Authenticate']).toBe('Bearer')
    }
  })

  it('stores nothing for a client that has left', async () => {
    const send = vi.fn()
    const incoming = request({ method: 'POST', path: '/v1/notify', parsedBody: { to: 'x' }, aborted: true })
    await serve(fakeNotifier({ send })).handle(incoming)
    expect(send).not.toHaveBeenCalled()
  })
})

describe('a counted request', () => {
  const state = { resource: 'requests', limit: 100, remaining: 42, resetAt: 1_800_000_000 }

  it('gives its slot back exactly once, however it ends', async () => {
    const own = [{ organizationId: 'org_default' }, TEMPLATE_LISTS]
    const endings: [parts: Parameters<typeof fakeNotifier>[0], counted: unknown[]][] = [
      [{ templates: { list: async () => emptyList } }, own],
      [{ templates: { list: async () => Promise.reject(new Error('broken')) } }, own],
      [
        { verify: async () => ({ ...KEY, allowedIps: ['203.0.113.1/32'] }) },
        [{ address: '198.51.100.7' }, REQUESTS],
      ],
    ]
    for (const [parts, counted] of endings) {
      const release = vi.fn(async () => {})
      const admit = vi.fn(async () => ({ state, release }))
      const logger = { warn: vi.fn(), error: vi.fn() }
      const response = await serve(fakeNotifier({ ...parts, admit, logger })).handle(request())
      expect(release).toHaveBeenCalledOnce()
      expect(admit).toHaveBeenCalledExactlyOnceWith(...counted)
      expect(response?.headers).toMatchObject({
        'X-RateLimit-Limit': '100',
        'X-RateLimit-Remaining': '42',
        'X-RateLimit-Reset': '1800000000',
        'X-RateLimit-Resource': 'requests',
      })
    }
  })

  it('is answered also when the slot cannot be given back', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() }
    const admit = async () => ({ state, release: () => Promise.reject(new Error('limiter gone')) })
    const api = serve(fakeNotifier({ admit, logger, templates: { list: async () => emptyList } }))
    expect((await api.handle(request()))?.status).toBe(200)
    await expect.poll(() => logger.warn.mock.calls.length).toBe(1)
  })

  it('without a valid key counts for its address', async () => {
    const admit = vi.fn(async () => ({ state, release: async () => {} }))
    const api = serve(fakeNotifier({ admit }))
    const missing = await api.handle(request({ headers: { authorization: '' } }))
    expect(missing?.status).toBe(401)
    expect(missing?.headers['X-RateLimit-Remaining']).toBe('42')
    expect(admit).toHaveBeenCalledExactlyOnceWith({ address: '198.51.100.7' }, REQUESTS)
  })
})

describe('failures of our side', () => {
  const secret = 'SELECT password FROM users'
  async function failing(error: unknown, options: HttpApiOptions = {}) {
    const logger = { warn: vi.fn(), error: vi.fn() }
    const list = async () => {
      throw error
    }
    const api = serve(fakeNotifier({ templates: { list }, logger }), options)
    return { response: await api.handle(request()), logger }
  }

  it('are internal_server_error without a word of the cause, and reported', async () => {
    const cause = new Error(secret)
    const { response, logger } = await failing(cause)
    expect(response?.status).toBe(500)
    expect(json(response)).toMatchObject({ error: { code: 'internal_server_error', retry_after: 1 } })
    expect(response?.headers['Retry-After']).toBe('1')
    expect(response?.body).not.toContain('password')
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      expect.any(String),
      expect.objectContaining({ error: cause, requestId: response?.headers['X-Request-Id'] }),
    )
  })

  it('are service_unavailable during an outage', async () => {
    const { response, logger } = await failing(
      new NotifierError('service_unavailable', { message: secret, retryAfterMs: 4500 }),
    )
    expect(response?.status).toBe(503)
    expect(response?.headers['Retry-After']).toBe('5')
    expect(response?.body).not.toContain('password')
    expect(logger.warn).toHaveBeenCalledOnce()
  })

  it('look the same in the flat form', async () => {
    const { response } = await failing(new Error(secret), { errorFormat: 'flat' })
    expect(json(response)).toEqual({
      error: expect.any(String),
      code: 'INTERNAL_SERVER_ERROR',
      statusCode: 500,
    })
    expect(response?.headers['Retry-After']).toBe('1')
  })

  it.each([
    ['a route', '/v1/templates', ['listTemplates', 200]],
    ['a failure', '/v1/templates/tpl_1', ['getTemplate', 500]],
    ['no route', '/v1/nowhere', ['unknown', 404]],
  ])('and other answers are counted by operation and status: %s', async (_title, path, expected) => {
    const answered = vi.fn()
    const logger = { warn: vi.fn(), error: vi.fn() }
    const notifier = fakeNotifier({ answered, logger, templates: { list: async () => emptyList } })
    await serve(notifier).handle(request({ path }))
    expect(answered.mock.calls).toEqual([expected])
  })

  it('are warnings of the process when there is no logger', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const list = async () => {
      throw new Error(secret)
    }
    await serve(fakeNotifier({ templates: { list } })).handle(request())
    expect(emitWarning).toHaveBeenCalledOnce()
  })

  it('in an answer that cannot be written are answered too', async () => {
    const list = async () => ({ ...emptyList, items: [1n] }) as never
    const logger = { warn: vi.fn(), error: vi.fn() }
    const response = await serve(fakeNotifier({ templates: { list }, logger })).handle(request())
    expect(response?.status).toBe(500)
  })
})

describe('options', () => {
  const wrong: [string, HttpApiOptions][] = [
    ['https', { https: 'yes' as never }],
    ['trustedProxies', { trustedProxies: 'loopback' as never }],
    ['trustedProxies[1]', { trustedProxies: ['loopback', '10.0.0.0/99'] }],
    ['trustedProxies[0]', { trustedProxies: [1 as never] }],
    ['errorFormat', { errorFormat: 'xml' as never }],
    ['maxBodyBytes', { maxBodyBytes: 0 }],
    ['maxBodyBytes', { maxBodyBytes: Number.NaN }],
    ['maxBatchBytes', { maxBatchBytes: 1.5 }],
    ['logger', { logger: { error() {} } } as HttpApiOptions],
    ['trustProxy', { trustProxy: true } as HttpApiOptions],
    ['options', null as never],
  ]
  it.each(wrong)('%s is named when it is wrong', (option, options) => {
    expect(() => serve(working, options)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        details: expect.objectContaining({ option }),
        message: expect.stringContaining(option),
      }),
    )
  })

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'createNotifier()'],
    ['something else', { send() {} }, 'createNotifier()'],
    ['a notifier of another version', { internals: { version: '0.0.1' } }, '0.0.1'],
  ])('need a notifier, not %s', (_what, notifier, message) => {
    expect(() => serve(notifier as Served)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        details: { option: 'notifier' },
        message: expect.stringContaining(message),
      }),
    )
  })
})

describe('X-Test-Mode', () => {
  const deliveries = [
    '/v1/notifications/batch',
    '/v1/notifications/notif_1/resend',
    '/v1/notifications/notif_1/retry',
    '/v1/dead-letters/retry',
    '/v1/webhooks/wh_1/test',
    '/v1/webhooks/wh_1/redeliver',
    '/v1/webhooks/wh_1/deliveries/evt_1/redeliver',
  ]

  it.each(deliveries)('is refused by POST %s, which would deliver something', async (path) => {
    for (const value of ['true', 'TRUE', '1', '']) {
      const headers = { 'x-test-mode': value, 'content-type': 'application/json' }
      const response = await serve(fakeNotifier({})).handle(
        request({ method: 'POST', path, headers, body: '{}' }),
      )
      expect(response?.status, value).toBe(400)
      expect(json(response).error).toMatchObject({
        code: 'invalid_parameter',
        details: { field: 'X-Test-Mode' },
      })
    }
  })

  it('is ignored where nothing is delivered', async () => {
    const headers = { 'x-test-mode': 'true' }
    expect(await serve(working).handle(request({ headers }))).toMatchObject({ status: 200 })
  })
})

it('warns of a notifier that never started, though it has no logger', async () => {
  const warned = once(process, 'warning')
  const response = await serve(createNotifier({ channels: {} })).handle(request())
  expect(response?.status).toBe(503)
  const [warning] = (await warned) as [Error & { detail?: string }]
  expect(warning.name).toBe('CarillonHttpWarning')
  expect(warning.message).toContain('the notifier has not started')
  expect(warning.detail).toContain('Call start() first')
})
