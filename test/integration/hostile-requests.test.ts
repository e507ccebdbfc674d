import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'
import { type Answer, exchange } from '../support/http-client.ts'

/**
 * Hostile input must end in a well-formed answer: never a fault of our side, a hang, a crash or a stored notification
 * that nobody asked for. What node:http itself refuses (400 without a body, a closed connection) is not ours.
 */
let host: ExpressHost
let auth: { authorization: string }
const faults: unknown[] = []

beforeAll(async () => {
  const report = (_message: string, fields: unknown): void => {
    // What the storage says of itself at the start has none.
    if (fields !== undefined) faults.push(fields)
  }
  // Limits would end most of it on a machine that is fast.
  const plans = { free: UNLIMITED }
  host = await startExpressHost({ plans, logger: { debug() {}, info() {}, warn: report, error: report } })
  auth = await host.key()
})
afterAll(async () => {
  expect(faults).toEqual([])
  expect(host.errors).toEqual([])
  await host.close()
})

function expectWellFormed(answer: Answer): void {
  expect(answer.status, answer.text).toBeLessThan(500)
  if (answer.status < 400) return
  expect(answer.json, answer.text).toMatchObject({
    error: {
      code: expect.stringMatching(/^[a-z_]+$/),
      message: expect.stringMatching(/./),
      request_id: answer.headers['x-request-id'],
    },
  })
}

async function stored(): Promise<number> {
  return (await host.notifier.notifications.list({ limit: 100 })).items.length
}

const json = { 'content-type': 'application/json' }
const paths = ['/v1/notify', '/v1/notifications/batch', '/v1/templates', '/admin/templates?orgId=org_default']
const runs = { numRuns: 150 }

describe('bodies', () => {
  it('of any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.uint8Array({ maxLength: 200 }), async (path, body) => {
        const answer = await host.call({ method: 'POST', path, headers: { ...auth, ...json }, body })
        expectWellFormed(answer)
        expect(answer.status).toBeGreaterThanOrEqual(400)
      }),
      runs,
    )
    expect(await stored()).toBe(0)
  })

  it('of any JSON', async () => {
    const value = fc.json({ maxDepth: 5 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), value, fc.boolean(), async (path, body, keyed) => {
        const key = keyed ? { 'idempotency-key': `k${body.length}` } : {}
        const headers = { ...auth, ...json, ...key }
        expectWellFormed(await host.call({ method: 'POST', path, headers, body }))
      }),
      runs,
    )
    expect(await stored()).toBe(0)
  })

  it('that are almost right', async () => {
    const field = fc.oneof(
      fc.constantFrom(
        '',
        'email',
        'sms',
        '__proto__',
        '{{x}}',
        '{{#a}}',
        '\u0000',
        '\ud800',
        'x'.repeat(5000),
      ),
      fc.string(),
      fc.integer(),
      fc.double(),
      fc.constant(null),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.jsonValue()),
    )
    const names = [
      'channel',
      'to',
      'subject',
      'body',
      'template',
      'variables',
      'data',
      'format',
      'priority',
      'sendAt',
      'expiresAt',
      'name',
      'description',
      '__proto__',
      'constructor',
      'toString',
    ]
    const input = fc.dictionary(fc.constantFrom(...names), field)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/v1/notify', '/v1/templates'), input, async (path, body) => {
        const text = JSON.stringify({ ...body, to: 'nobody' })
        expectWellFormed(await host.call({ method: 'POST', path, headers: { ...auth, ...json }, body: text }))
      }),
      runs,
    )
    expect(await stored()).toBe(0)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  it.each([
    ['variables', `{"channel":"email","to":"a@example.com","body":"x","variables":${deep(50_000)}}`],
    ['an unknown field', `{"channel":"email","to":"nobody","body":"x","more":${deep(50_000)}}`],
    ['a list', `{"to":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    [
      'a wide object',
      `{"to":"nobody","variables":{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`)}}}`,
    ],
    ['a huge number', `{"to":1e999999}`],
    ['a long number', `{"to":${'9'.repeat(100_000)}}`],
    ['one name many times', `{${'"to":"nobody",'.repeat(10_000)}"to":"nobody"}`],
  ])('with %s beyond measure', async (_title, body) => {
    for (const key of [{}, { 'idempotency-key': 'deep' }]) {
      const headers = { ...auth, ...json, ...key }
      const single = await host.call({ method: 'POST', path: '/v1/notify', headers, body })
      expectWellFormed(single)
      expect(single.status).toBeGreaterThanOrEqual(400)
      const batch = `{"notifications":[${body}]}`
      expectWellFormed(
        await host.call({ method: 'POST', path: '/v1/notifications/batch', headers, body: batch }),
      )
    }
    expect(await stored()).toBe(0)
  })
})

describe('addresses', () => {
  const tricks = fc.constantFrom(
    '%',
    '%00',
    '%0a',
    '%0d%0aX:%20y',
    '%2e%2e',
    '..',
    '.',
    '%2f',
    '%5c',
    '\\',
    '%ff',
    '%C0%AF',
    '%u0041',
    '%F0%9F%98%80',
    '__proto__',
    'constructor',
    'notif_1',
    'tpl_1',
    ';x=1',
    '*',
    "'--",
    '"',
    '<x>',
    '{id}',
    '~',
    '',
    '%252e',
  )
  const segment = fc.oneof(tricks, fc.stringMatching(/^[!-"$->@-~]{0,20}$/))
  const address = fc
    .tuple(
      fc.constantFrom('/v1', '/admin', '/v1/notifications', '/v1/templates', '/admin/templates'),
      fc.array(segment, { maxLength: 3 }),
    )
    .map(([base, segments]) => [base, ...segments].join('/'))
  const query = fc.oneof(
    fc.constant(''),
    fc.constantFrom(
      '?',
      '?orgId',
      '?orgId=%00',
      '?limit=-1',
      '?cursor=%ff',
      '?&&==',
      '?__proto__=1',
      '?to=%ED%A0%80',
      '?from=%00',
      '?status[]=x',
    ),
    fc.stringMatching(/^\?[!-"$-~]{0,30}$/),
  )

  it('of any form', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'),
        address,
        query,
        async (method, path, search) => {
          const answer = await host.call({ method, path: path + search, headers: auth })
          if (method === 'HEAD') expect(answer.status).toBeLessThan(500)
          else expectWellFormed(answer)
        },
      ),
      { numRuns: 400 },
    )
  })
})

describe('headers', () => {
  it('of any content', async () => {
    const name = fc.constantFrom(
      'authorization',
      'content-type',
      'content-encoding',
      'idempotency-key',
      'x-test-mode',
      'x-organization-id',
      'x-forwarded-for',
      'x-forwarded-proto',
      'forwarded',
      'x-request-id',
      'accept',
      'expect-ct',
    )
    const value = fc.oneof(
      fc.constantFrom(
        '',
        ' ',
        ',',
        '"',
        '""',
        'true',
        'null',
        'Bearer',
        'org_other',
        'application/json; charset',
        ';;;',
        '127.0.0.1,'.repeat(300),
      ),
      fc.stringMatching(/^[ -~\u0080-\u00ff]{0,60}$/),
    )
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value), async (headers) => {
        const body = '{"channel":"email","to":"nobody","body":"x"}'
        expectWellFormed(
          await host.call({
            method: 'POST',
            path: '/v1/notify',
            headers: { ...auth, ...headers },
            body,
          }),
        )
      }),
      runs,
    )
    expect(await stored()).toBe(0)
  })
})

describe('sockets', () => {
  it.each([
    ['random bytes', Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 7919) % 256))],
    ['no HTTP', 'HELO mail\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    ],
    [
      'a length and chunks',
      'POST /v1/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    ],
    ['a negative length', 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}'],
    ['broken chunks', 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n{}'],
    [
      'a folded header',
      'GET /v1/templates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer\r\n x\r\nConnection: close\r\n\r\n',
    ],
    ['HTTP/1.0', 'GET /v1/templates HTTP/1.0\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['an authority', 'GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['an origin without a path', 'GET http://x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['a path in a query', 'GET http://x?/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('%s', async (_title, bytes) => {
    const answer = await exchange(host.port, bytes)
    expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d |$)/)
    expect(await stored()).toBe(0)
  })

  it('many at once that say nothing, or half a request, keep nobody else from being served', async () => {
    const silent = Array.from({ length: 100 }, (_, index) =>
      exchange(
        host.port,
        index % 2 === 0 ? '' : 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nContent-Le',
        300,
      ).catch(() => ''),
    )
    const answer = await host.call({ path: '/v1/templates', headers: auth })
    expect(answer.status).toBe(200)
    await Promise.all(silent)
  })
})
