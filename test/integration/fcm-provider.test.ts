import { generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type FcmOptions, fcm } from '../../adapters/channels/fcm/send.ts'
import type { Message, Provider } from '../../src/core/ports/provider.ts'
import {
  type ProviderReply,
  type ProviderServer,
  providerServer,
} from '../../src/testing/channel/provider-server.ts'
import { sendContext } from '../support/channel-context.ts'
import {
  FCM_PATH,
  FCM_TOKEN,
  fcmCode,
  fcmError,
  fcmMessage,
  grant,
  type TestAccount,
  testAccount,
  tokenReply,
} from '../support/fcm-server.ts'
import { closedPort } from '../support/receivers.ts'

const MESSAGE: Message = { to: FCM_TOKEN, subject: 'Hello', body: 'Grüße 🎉', format: 'text' }

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Fixture {
  readonly server: ProviderServer
  readonly account: TestAccount
  readonly channel: Provider
  /** Requests for a token. */
  grants(): ProviderServer['requests']
  send(change?: Partial<Message>): ReturnType<Provider['send']>
}

/** @param tokens answers requests for a token, counted from 1 */
async function fixture(
  tokens: (number: number) => ProviderReply = (number) => tokenReply(`ya29.token-${number}`),
  change: Partial<FcmOptions> = {},
): Promise<Fixture> {
  let number = 0
  const server = await providerServer({
    accept: (_, count) => ({ status: 200, body: { name: `projects/demo-project/messages/${count}` } }),
    rows: [
      {
        row: 'unauthenticated',
        reply: fcmError(401, 'UNAUTHENTICATED', 'No.'),
        outcome: { kind: 'retry' },
      },
      {
        row: 'apple refuses',
        reply: fcmError(401, 'UNAUTHENTICATED', 'Auth error from APNS', fcmCode('THIRD_PARTY_AUTH_ERROR')),
        outcome: { kind: 'retry' },
      },
    ],
    aside({ path }) {
      if (path === FCM_PATH) return undefined
      number += 1
      return tokens(number)
    },
  })
  closing.push(server.close)
  const account = testAccount(server.url)
  const channel = fcm({ serviceAccount: account.file, baseUrl: server.url, ...change })
  closing.push(() => channel.close?.())
  return {
    server,
    account,
    channel,
    grants: () => server.requests.filter(({ path }) => path === '/token'),
    send: (more = {}) => channel.send({ ...MESSAGE, ...more }, sendContext()),
  }
}

describe('a message to FCM', () => {
  it('holds text, data, life and what it replaces, in the fields that Google documents', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T12:00:00Z') })
    onTestFinished(() => void vi.useRealTimers())
    const { server, send } = await fixture(undefined, { ttlSeconds: 60, priority: 'normal' })
    expect(await send({ push: { data: { order: '42' } } })).toEqual({
      kind: 'accepted',
      providerMessageId: 'projects/demo-project/messages/1',
    })
    const [request] = server.taken
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer ya29.token-1',
      'content-type': 'application/json',
    })
    const message = request === undefined ? undefined : fcmMessage(request)
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    expect(message).toEqual({
      token: FCM_TOKEN,
      notification: { title: 'Hello', body: 'Grüße 🎉' },
      data: { order: '42' },
      android: { priority: 'NORMAL', ttl: '60s', notification: { tag: id } },
      apns: {
        headers: {
          'apns-priority': '5',
          'apns-expiration': String(Date.parse('2026-11-21T12:01:00Z') / 1000),
          'apns-collapse-id': id,
        },
      },
      webpush: { headers: { TTL: '60', Urgency: 'normal' }, notification: { tag: id } },
    })
  })

  it('replaces what was sent before a retry', async () => {
    const { server, channel } = await fixture()
    for (const change of [{}, { idempotencyKey: 'retried' }]) await channel.send(MESSAGE, sendContext(change))
    const [first, again] = server.taken.map(fcmMessage)
    expect(again).toEqual(first)
  })

  it('has at most 4096 bytes of title, text and data', async () => {
    const { server, send } = await fixture()
    const data = { key: 'ü'.repeat(100) }
    const room = 4096 - Buffer.byteLength(`Hello${'key'}${data.key}`)
    expect(await send({ body: 'x'.repeat(room), push: { data } })).toMatchObject({ kind: 'accepted' })
    expect(await send({ body: 'x'.repeat(room + 1), push: { data } })).toMatchObject({
      kind: 'rejected',
      code: 'message_too_large',
      scope: 'message',
    })
    expect(server.taken.length).toBe(1)
  })

  it.each(['from', 'message_type', 'google.x', 'gcm.n.e', 'gcm'])(
    'does not leave with the key "%s", which would look like a wrong token',
    async (key) => {
      const { server, send } = await fixture()
      const outcome = await send({ push: { data: { [key]: '1' } } })
      expect(outcome).toMatchObject({ kind: 'rejected', code: 'invalid_content', scope: 'message' })
      expect(server.requests).toEqual([])
    },
  )
})

describe('the access token', () => {
  it('is asked for with an assertion that Google can verify', async () => {
    const { account, grants, send } = await fixture()
    await send()
    const [request] = grants()
    if (request === undefined) throw new Error('No token was asked for.')
    expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(await grant(request, account)).toMatchObject({
      grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      header: { alg: 'RS256', typ: 'JWT', kid: '0123456789abcdef' },
      payload: { scope: 'https://www.googleapis.com/auth/firebase.messaging' },
    })
  })

  it('is made once for all who send at the same time, and kept', async () => {
    const { server, grants, send } = await fixture()
    await Promise.all(Array.from({ length: 10 }, () => send()))
    await send()
    expect(grants().length).toBe(1)
    expect(server.taken.length).toBe(11)
  })

  it('is made again shortly before its end', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 15, 12) })
    closing.push(() => void vi.useRealTimers())
    const { server, send } = await fixture((number) => tokenReply(`ya29.token-${number}`, 3_600))
    await send()
    vi.setSystemTime(Date.UTC(2026, 0, 15, 12, 54, 59))
    await send()
    vi.setSystemTime(Date.UTC(2026, 0, 15, 12, 55))
    await send()
    expect(server.taken.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer ya29.token-1',
      'Bearer ya29.token-1',
      'Bearer ya29.token-2',
    ])
  })

  it('is made again when Google refused it, at once the first time', async () => {
    const { server, send } = await fixture()
    server.act({ kind: 'answer', row: 'unauthenticated' })
    const refused = { code: 'provider_auth_failed', scope: 'account' }
    const outcomes = await Promise.all([send(), send()])
    expect(outcomes).toMatchObject([
      { kind: 'retry', ...refused },
      { kind: 'retry', ...refused },
    ])
    expect(await send()).toMatchObject({ kind: 'rejected', ...refused })
    server.act({ kind: 'accept' })
    await send()
    expect(server.taken[0]?.headers.authorization).toBe('Bearer ya29.token-3')
  })

  it('is kept when it is Apple that refuses the key of the project', async () => {
    const { server, grants, send } = await fixture()
    server.act({ kind: 'answer', row: 'apple refuses' })
    const refused = { kind: 'retry', code: 'provider_auth_failed', scope: 'recipient' }
    expect(await send()).toMatchObject(refused)
    expect(await send()).toMatchObject(refused)
    expect(grants().length).toBe(1)
  })

  const auth = { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
  const outage = { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }
  it.each<[string, ProviderReply, object]>([
    [
      'a refused grant',
      { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } },
      { ...auth, providerCode: 'invalid_grant', message: expect.stringContaining('Invalid JWT Signature.') },
    ],
    ['401', { status: 401, body: { error: 'invalid_client' } }, { ...auth, providerCode: 'invalid_client' }],
    ['403 that is not JSON', { status: 403, body: 'No' }, { ...auth, providerCode: '403' }],
    ['429', { status: 429, body: {} }, outage],
    [
      '429, with a time',
      { status: 429, headers: { 'retry-after': '120' }, body: {} },
      { ...outage, retryAfterMs: 120_000 },
    ],
    [
      '503, with a time',
      { status: 503, headers: { 'retry-after': '30' }, body: {} },
      { ...outage, retryAfterMs: 30_000 },
    ],
    ['500', { status: 500, body: {} }, outage],
    ['503', { status: 503, body: '<html>' }, outage],
    ['a page with 200', { status: 200, body: '<html>' }, outage],
    ['a token without an end', { status: 200, body: { access_token: 'x' } }, outage],
    [
      'a token that no header can carry',
      { status: 200, body: { access_token: 'a\nb', expires_in: 1 } },
      outage,
    ],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, outage],
  ])('that does not come leaves the message here: %s', async (_, reply, expected) => {
    const { server, channel, send } = await fixture(() => reply)
    expect(await send()).toMatchObject(expected)
    expect(server.taken).toEqual([])
    await expect(channel.check?.()).rejects.toThrow(/^FCM cannot be used: /)
  })

  it('that a later request brings lets messages leave again', async () => {
    const { send } = await fixture((number) => (number === 1 ? { status: 500 } : tokenReply('ya29.late')))
    expect(await send()).toMatchObject({ kind: 'retry' })
    expect(await send()).toMatchObject({ kind: 'accepted' })
  })

  it('is not waited for longer than the message has time, and others still get it', async () => {
    const { channel, send } = await fixture()
    const abort = new AbortController()
    const first = channel.send(MESSAGE, sendContext({ signal: abort.signal }))
    const second = send()
    abort.abort()
    expect(await first).toMatchObject({ kind: 'retry', code: 'provider_unavailable' })
    expect(await second).toMatchObject({ kind: 'accepted' })
  })

  it('cannot be had where nobody listens: nothing has left', async () => {
    const { account, server } = await fixture()
    const tokenUri = `http://127.0.0.1:${await closedPort()}/token`
    const channel = fcm({
      serviceAccount: { ...account.file, token_uri: tokenUri },
      baseUrl: server.url,
    })
    closing.push(() => channel.close?.())
    expect(await channel.send(MESSAGE, sendContext())).toMatchObject(outage)
  })
})

describe('fcm', () => {
  const account = testAccount('http://127.0.0.1:1').file
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const ecKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

  it.each<[string, Partial<FcmOptions>]>([
    ['serviceAccount.private_key', { serviceAccount: { ...account, private_key: 'secret' } }],
    ['serviceAccount.private_key', { serviceAccount: { ...account, private_key: ecKey } }],
    [
      'serviceAccount.token_uri',
      { serviceAccount: { ...account, token_uri: 'http://oauth2.example.com/token' } },
    ],
    ['projectId', { serviceAccount: { ...account, project_id: undefined } }],
    ['ttlSeconds', { ttlSeconds: 2_419_201 }],
    ['maxPerSecond', { maxPerSecond: 0 }],
  ])('names the option "%s" when it is wrong', (option, change) => {
    expect(() => fcm({ serviceAccount: account, ...change })).toThrow(`fcm: "${option}"`)
  })

  it('ignores what else is in the key file', () => {
    const file = { ...account, type: 'service_account', universe_domain: 'googleapis.com' }
    expect(fcm({ serviceAccount: file }).name).toBe('fcm')
  })

  it.each([
    [FCM_TOKEN, true],
    [`APA91b${'x'.repeat(140)}`, true],
    ['ab'.repeat(32), false],
    [`${FCM_TOKEN}/x`, false],
    ['short:token', false],
    ['{"endpoint":"https://fcm.googleapis.com/fcm/send/x:APA91b"}', false],
  ])('reaches %s: %s', (to, expected) => {
    expect(fcm({ serviceAccount: account }).accepts?.(to)).toBe(expected)
  })
})
