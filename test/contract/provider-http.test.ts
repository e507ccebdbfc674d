import { type AddressInfo, createServer } from 'node:net'
import { afterEach, describe, expect, it, test } from 'vitest'
import { type Classification, refuse, textMember } from '../../adapters/channels/kit/http/provider-answer.ts'
import { type ProviderHttpOptions, providerHttp } from '../../adapters/channels/kit/http/provider-http.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { httpProviderHarness } from '../../src/testing/channel/http-harness.ts'
import { type ProviderRow, providerServer } from '../../src/testing/channel/provider-server.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { sendContext } from '../support/channel-context.ts'
import { closedPort, httpsReceiver, tcpReceiver } from '../support/receivers.ts'

/* The core that every provider over HTTP is built on, held to the contract by the smallest provider there can be. */

const TOKEN = 'correct-horse-battery'

function acme(baseUrl: string, more: Partial<ProviderHttpOptions> = {}): Provider {
  const http = providerHttp({ maxConnections: 4, timeoutMs: 20_000, secrets: [TOKEN], ...more })
  const table: Readonly<Record<string, Classification>> = {
    bad_number: ['rejected', 'invalid_phone_number', 'recipient'],
  }
  return {
    name: 'acme',
    maxConcurrent: 4,
    send: ({ to, body }, { idempotencyKey, signal }) =>
      http.send(
        {
          url: `${baseUrl}/messages`,
          headers: { authorization: `Bearer ${TOKEN}`, 'idempotency-key': idempotencyKey },
          body: JSON.stringify({ to, body }),
          signal,
        },
        (answer) => {
          const providerMessageId = textMember(answer.json, 'id')
          if (answer.status === 201 && providerMessageId !== undefined) {
            return { kind: 'accepted', providerMessageId }
          }
          const code = textMember(answer.json, 'error')
          if (code === undefined) return null
          return refuse(answer, { code, message: textMember(answer.json, 'message') }, table[code])
        },
      ),
    close: () => http.close(),
  }
}

const ROWS: readonly ProviderRow[] = [
  {
    row: 'of its table',
    reply: { status: 400, body: { error: 'bad_number', message: 'No such number.' } },
    outcome: {
      kind: 'rejected',
      code: 'invalid_phone_number',
      scope: 'recipient',
      message: 'No such number.',
      providerCode: 'bad_number',
    },
  },
  {
    row: 'a code that nobody knows',
    reply: { status: 422, body: { error: 'brand_new' } },
    outcome: {
      kind: 'rejected',
      code: 'provider_error',
      scope: 'message',
      message: 'The provider answered 422.',
      providerCode: 'brand_new',
    },
  },
  {
    row: 'our credentials, repeated',
    reply: { status: 401, body: { error: 'denied', message: 'Not $credentials!' } },
    outcome: {
      kind: 'rejected',
      code: 'provider_auth_failed',
      scope: 'account',
      message: 'Not Bearer [secret]!',
    },
  },
  ...(
    [
      [302, 'rejected', 'provider_error', 'account'],
      [402, 'retry', 'provider_quota_exceeded', 'account'],
      [403, 'rejected', 'provider_auth_failed', 'account'],
      [404, 'rejected', 'provider_error', 'account'],
      [407, 'rejected', 'provider_auth_failed', 'account'],
      [408, 'retry', 'provider_unavailable', 'provider'],
      [413, 'rejected', 'message_too_large', 'message'],
      [418, 'rejected', 'provider_error', 'message'],
      [421, 'retry', 'provider_unavailable', 'provider'],
      [429, 'retry', 'provider_rate_limited', 'account'],
      [503, 'retry', 'provider_unavailable', 'provider'],
    ] as const
  ).map(([status, kind, code, scope]) => ({
    row: `a page with ${status}`,
    reply: { status, body: '<p>No.</p>' },
    outcome: { kind, code, scope, providerCode: String(status) },
  })),
  ...[500, 502, 504].map((status) => ({
    row: `a page with ${status}`,
    reply: { status, body: '<p>No.</p>' },
    outcome: { kind: 'ambiguous', code: 'provider_unavailable', providerCode: String(status) } as const,
  })),
]

providerContract(
  test,
  () =>
    httpProviderHarness({
      provider: (url) => acme(url),
      message: { to: '+14155550123', subject: null, body: '', format: 'text' },
      secrets: [TOKEN],
      accept: (_, number) => ({ status: 201, body: { id: `m${number}` } }),
      take: ({ headers, body }) => ({
        ...JSON.parse(body.toString('utf8')),
        id: String(headers['idempotency-key']),
      }),
      rows: ROWS,
    }),
  ROWS,
  { http: true },
)

describe.each([200, 202, 204, 205])('a provider whose success is the status %i alone', (success) => {
  function silent(baseUrl: string): Provider {
    const http = providerHttp({ maxConnections: 4, timeoutMs: 20_000, secrets: [] })
    return {
      name: 'silent',
      maxConcurrent: 4,
      send: ({ to, body }, { idempotencyKey, signal }) =>
        http.send(
          {
            url: `${baseUrl}/messages`,
            headers: { 'idempotency-key': idempotencyKey },
            body: JSON.stringify({ to, body }),
            signal,
          },
          ({ status }) => (status === success ? { kind: 'accepted' } : null),
        ),
      close: () => http.close(),
    }
  }

  providerContract(
    test,
    () =>
      httpProviderHarness({
        provider: silent,
        message: { to: '+14155550123', subject: null, body: '', format: 'text' },
        secrets: [],
        accept: () => ({ status: success }),
        take: ({ headers, body }) => ({
          ...JSON.parse(String(body)),
          id: String(headers['idempotency-key']),
        }),
      }),
    [],
    { http: true, statusAlone: true },
  )
})

test('a thousand messages at once share the connections that are allowed', async () => {
  const server = await providerServer({
    accept: (_, number) => ({ status: 201, body: { id: `m${number}` } }),
  })
  const channel = acme(server.url)
  const outcomes = await Promise.all(
    Array.from({ length: 1000 }, (_, index) =>
      channel.send(
        { to: '+14155550123', subject: null, body: `number ${index}`, format: 'text' },
        sendContext(),
      ),
    ),
  )
  expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(1000)
  expect(new Set(server.taken.map(({ body }) => String(body))).size).toBe(1000)
  expect(server.mostConnections()).toBeLessThanOrEqual(4)
  await channel.close?.()
  await server.close()
})

test('a refusal that repeats a credential where its text is cut shows no part of it', async () => {
  const message = `${'x'.repeat(490)}${TOKEN}`
  const server = await providerServer({ accept: () => ({ status: 400, body: { error: 'odd', message } }) })
  const channel = acme(server.url)
  const outcome = await channel.send(
    { to: '+14155550123', subject: null, body: 'Hi', format: 'text' },
    sendContext(),
  )
  expect(outcome).toMatchObject({ kind: 'rejected', message: `${'x'.repeat(490)}[secret]` })
  await channel.close?.()
  await server.close()
})

describe('a message that cannot have left', () => {
  const open: { close?(): Promise<void> | void }[] = []
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close?.()
  })
  const keep = <One extends { close?(): Promise<void> | void }>(one: One): One => {
    open.push(one)
    return one
  }
  const message = { to: '+14155550123', subject: null, body: 'Hi', format: 'text' } as const
  const again = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' } as const

  it('is tried again: no such name', async () => {
    const channel = keep(acme('https://api.provider.invalid'))
    expect(await channel.send(message, sendContext())).toMatchObject({
      ...again,
      providerCode: 'unreachable',
    })
  })

  it('is tried again: nobody listens', async () => {
    const channel = keep(acme(`http://127.0.0.1:${await closedPort()}`))
    expect(await channel.send(message, sendContext())).toMatchObject(again)
  })

  it('is tried again: nobody vouches for the certificate', async () => {
    const receiver = keep(await httpsReceiver((response) => response.end('{"id":"1"}')))
    const channel = keep(acme(`https://localhost:${receiver.port}`))
    const failure = `^No connection could be made to localhost:${receiver.port} \\(\\w+\\)\\. .*NODE_EXTRA_CA_CERTS`
    expect(await channel.send(message, sendContext())).toMatchObject({
      ...again,
      message: expect.stringMatching(failure),
    })
    expect(receiver.requests).toEqual([])
  })

  it('is tried again: the handshake hangs until the deadline', async () => {
    const receiver = keep(await tcpReceiver((socket) => socket.resume()))
    const channel = keep(acme(`https://127.0.0.1:${receiver.port}`, { timeoutMs: 50 }))
    expect(await channel.send(message, sendContext())).toMatchObject({ ...again, providerCode: 'timeout' })
  })

  it('is tried again: every connection is busy until the deadline', async () => {
    // One connection and no other: the second message may have a moment left when the first gives it up.
    const server = createServer((socket) => {
      socket.resume()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const channel = keep(acme(`http://127.0.0.1:${port}`, { maxConnections: 1, timeoutMs: 800 }))
    const outcomes = await Promise.all([
      channel.send(message, sendContext()),
      channel.send(message, sendContext()),
    ])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['ambiguous', 'retry'])
  })

  it.each([
    ['the URL is no URL', 'not a url', {}],
    ['the scheme is not HTTP', 'ftp://127.0.0.1/', {}],
    ['the method is none', 'http://127.0.0.1/', { method: 'GET /x' }],
    ['a header is invalid', 'http://127.0.0.1/', { headers: { 'x-a': 'a\r\nb: c' } }],
  ])('ends in a result, never in an exception: %s', async (_, url, more) => {
    const http = keep(providerHttp({ maxConnections: 1, timeoutMs: 20_000, secrets: [] }))
    expect(await http.request({ url, headers: {}, ...more })).toMatchObject({
      kind: 'failed',
      reason: 'unreachable',
      requestSent: false,
    })
  })

  it('ends in a result, never in an exception: the choice of the proxy throws', async () => {
    const http = keep(providerHttp({ maxConnections: 1, timeoutMs: 20_000, secrets: [] }))
    http.through(() => {
      throw new TypeError('No proxy.')
    })
    expect(await http.request({ url: 'http://127.0.0.1/', headers: {} })).toMatchObject({
      kind: 'failed',
      reason: 'unreachable',
      requestSent: false,
    })
  })

  it('is tried again: the channel is closed', async () => {
    const channel = acme('https://api.provider.invalid')
    await channel.close?.()
    expect(await channel.send(message, sendContext())).toMatchObject({ ...again, providerCode: 'aborted' })
  })
})
