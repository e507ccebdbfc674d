import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createRequire } from 'node:module'
import { ApnsClient, Notification } from 'apns2'
import { jwtVerify } from 'jose'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { recordingLogger } from '../../src/testing/recording-logger.ts'
import {
  APNS_KEY,
  acceptPush,
  apnsProvider,
  apnsServer,
  CREATED_AT,
  DEVICE_TOKEN,
  PUSH,
  privateKey,
  pushContext,
  refusePush,
  sendPush,
} from '../support/apns.ts'
import type { Http2Server } from '../support/http2-server.ts'
import { certificate } from '../support/localhost-certificate.ts'

describe('a request to APNs', () => {
  it('carries the message with its topic, expiry and collapse id', async () => {
    const server = await apnsServer()
    itIs(CREATED_AT)
    const channel = apnsProvider(server.origin, { aps: { sound: 'default' }, ttlSeconds: 60, priority: 5 })
    const outcome = await sendPush(channel, '7', { push: { data: { order: '42' } } })

    const [request] = server.requests
    const id = request?.headers['apns-id']
    expect(outcome).toEqual({ kind: 'accepted', providerMessageId: id })
    expect(request?.headers).toMatchObject({
      ':method': 'POST',
      ':path': `/3/device/${DEVICE_TOKEN}`,
      'apns-id': expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      'apns-topic': 'com.example.app',
      'apns-push-type': 'alert',
      'apns-priority': '5',
      'apns-expiration': String((CREATED_AT + 60_000) / 1000),
      'apns-collapse-id': id,
    })
    expect(JSON.parse(String(request?.body))).toEqual({
      order: '42',
      aps: { sound: 'default', alert: { title: 'Hello', body: 'Grüße 🎉' } },
    })
  })

  it('is not stored for offline devices with a time to live of 0', async () => {
    const server = await apnsServer()
    await sendPush(apnsProvider(server.origin, { ttlSeconds: 0 }))
    expect(server.requests[0]?.headers['apns-expiration']).toBe('0')
  })

  it('replaces the notification of an earlier attempt', async () => {
    const server = await apnsServer()
    const channel = apnsProvider(server.origin)
    for (const change of [{}, { idempotencyKey: 'retried' }])
      await channel.send(PUSH, pushContext('7', change))
    const [first, again] = server.requests.map(({ headers }) => headers['apns-collapse-id'])
    expect(again).toBe(first)
  })

  it('is not made when its data would replace the alert', async () => {
    const server = await apnsServer()
    const outcome = await sendPush(apnsProvider(server.origin), '1', { push: { data: { aps: '{}' } } })
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'invalid_content', scope: 'message' })
    expect(server.requests).toEqual([])
  })

  it('has at most 4096 bytes', async () => {
    const server = await apnsServer()
    const channel = apnsProvider(server.origin)
    const room = 4096 - Buffer.byteLength(JSON.stringify({ aps: { alert: { title: 'Hello', body: '' } } }))
    expect(await sendPush(channel, '1', { body: 'x'.repeat(room) })).toMatchObject({ kind: 'accepted' })
    expect(server.requests[0]?.body.length).toBe(4096)
    expect(await sendPush(channel, '2', { body: 'x'.repeat(room + 1) })).toMatchObject({
      kind: 'rejected',
      code: 'message_too_large',
      scope: 'message',
    })
    expect(server.requests.length).toBe(1)
  })

  it('equals that of the package apns2', async () => {
    const server = await apnsServer()
    await sendPush(apnsProvider(server.origin, { aps: { sound: 'default' } }))
    await sendByApns2(server)

    const [ours, theirs] = server.requests
    expect(JSON.parse(String(ours?.body))).toEqual(JSON.parse(String(theirs?.body)))
    for (const name of [':method', ':path', 'apns-topic', 'apns-push-type']) {
      expect(ours?.headers[name]).toBe(theirs?.headers[name])
    }
    for (const { headers } of server.requests) await verified(String(headers.authorization))
  })
})

/** Stops the clock, without the timers. */
function itIs(now: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now })
  onTestFinished(() => void vi.useRealTimers())
}

/** The package dials port 443 alone: it gets a pool to the test server. */
async function sendByApns2(server: Http2Server): Promise<void> {
  const client = new ApnsClient({
    team: 'TEAM123456',
    keyId: 'KEY1234567',
    signingKey: APNS_KEY,
    defaultTopic: 'com.example.app',
    keepAlive: false,
  })
  const { Pool } = createRequire(createRequire(import.meta.url).resolve('apns2'))('undici')
  Reflect.set(client, 'client', new Pool(server.origin, { allowH2: true, connect: { ca: certificate } }))
  onTestFinished(() => client.destroy())
  await client.send(
    new Notification(DEVICE_TOKEN, { alert: { title: 'Hello', body: 'Grüße 🎉' }, sound: 'default' }),
  )
}

function verified(authorization: string) {
  const jwt = authorization.replace(/^bearer /, '')
  return jwtVerify(jwt, createPublicKey(privateKey), {
    algorithms: ['ES256'],
    issuer: 'TEAM123456',
    requiredClaims: ['iat'],
    maxTokenAge: '60m',
  })
}

describe('the provider token', () => {
  it('is signed with the key, and used for every message', async () => {
    const server = await apnsServer()
    const channel = apnsProvider(server.origin)
    await Promise.all(['1', '2', '3'].map((id) => sendPush(channel, id)))
    const tokens = server.requests.map(({ headers }) => String(headers.authorization))
    expect(new Set(tokens).size).toBe(1)
    const { protectedHeader, payload } = await verified(tokens[0] ?? '')
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect(Object.keys(payload).sort()).toEqual(['iat', 'iss'])
  })

  it('is renewed when APNs calls it expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 15, 12) })
    onTestFinished(() => void vi.useRealTimers())
    const server = await apnsServer((stream, count) =>
      count === 2 ? refusePush(403, 'ExpiredProviderToken')(stream, count) : acceptPush(stream, count),
    )
    const channel = apnsProvider(server.origin)
    await sendPush(channel, '1')
    vi.setSystemTime(Date.UTC(2026, 0, 15, 12, 25))
    expect(await sendPush(channel, '2')).toMatchObject({ kind: 'retry', code: 'provider_auth_failed' })
    expect(await sendPush(channel, '2')).toMatchObject({ kind: 'accepted' })
    const [first, second, third] = server.requests.map(({ headers }) => headers.authorization)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  it('is kept while it is young, and the clock is reported as the likely cause', async () => {
    const server = await apnsServer(refusePush(403, 'ExpiredProviderToken'))
    const channel = apnsProvider(server.origin)
    const { logger, lines } = recordingLogger()
    await channel.send(PUSH, pushContext('1', { logger }))
    await sendPush(channel)
    const [first, second] = server.requests.map(({ headers }) => headers.authorization)
    expect(second).toBe(first)
    expect(lines().join()).toMatch(/clock/)
  })
})

describe('apns', () => {
  it.each([
    ['key', { key: 'secret' }],
    [
      'key',
      {
        key: generateKeyPairSync('ec', { namedCurve: 'secp384r1' })
          .privateKey.export({ type: 'pkcs8', format: 'pem' })
          .toString(),
      },
    ],
    ['keyId', { keyId: 'short' }],
    ['teamId', { teamId: 'team123456' }],
    ['topic', { topic: 'no spaces' }],
    ['aps', { aps: { alert: 'mine' } }],
    ['baseUrl', { baseUrl: 'http://localhost' }],
    ['maxPerSecond', { maxPerSecond: 1.5 }],
  ])('reports a wrong option "%s"', (option, change) => {
    expect(() => apnsProvider('https://localhost', change)).toThrow(new RegExp(`apns: "${option}"`))
  })

  it.each([
    [DEVICE_TOKEN, true],
    [DEVICE_TOKEN.toUpperCase(), true],
    ['ab'.repeat(80), true],
    ['ab'.repeat(16), false],
    [`${DEVICE_TOKEN}a`, false],
    [`${DEVICE_TOKEN.slice(2)}/x`, false],
    ['{"endpoint":"https://push.example.com/1"}', false],
  ])('accepts the recipient %s: %s', (to, expected) => {
    expect(apnsProvider('https://localhost').accepts?.(to)).toBe(expected)
  })
})
