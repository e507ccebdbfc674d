import { generateKeyPairSync } from 'node:crypto'
import type { ServerHttp2Stream } from 'node:http2'
import { onTestFinished } from 'vitest'
import { type ApnsOptions, apns } from '../../adapters/channels/apns/send.ts'
import type { Message, Provider, SendContext } from '../../src/core/ports/provider.ts'
import { sendContext } from './channel-context.ts'
import { type Http2Server, http2Server } from './http2-server.ts'
import { certificate } from './localhost-certificate.ts'

export const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
export const APNS_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
export const DEVICE_TOKEN = 'ab'.repeat(32)
export const PUSH: Message = { to: DEVICE_TOKEN, subject: 'Hello', body: 'Grüße 🎉', format: 'text' }

export const CREATED_AT = Date.UTC(2026, 0, 15, 12)
export function pushContext(id: string, change: Partial<SendContext> = {}): SendContext {
  const notificationId = `notif_${id.padStart(29, '0')}`
  return sendContext({ notificationId, idempotencyKey: notificationId, createdAt: CREATED_AT, ...change })
}

/** Answers a request; `count` is its number, from 1. */
export type ApnsResponder = (stream: ServerHttp2Stream, count: number) => void
export const acceptPush: ApnsResponder = (stream) => stream.respond({ ':status': 200 }, { endStream: true })
export const refusePush =
  (status: number, reason: string): ApnsResponder =>
  (stream) => {
    stream.respond({ ':status': status })
    stream.end(JSON.stringify({ reason }))
  }

export async function apnsServer(
  respond: ApnsResponder = acceptPush,
  settings: { readonly maxConcurrentStreams?: number } = {},
): Promise<Http2Server> {
  let count = 0
  const server = await http2Server((stream) => {
    count += 1
    respond(stream, count)
  }, settings)
  onTestFinished(server.close)
  return server
}

export function apnsProvider(baseUrl: string, change: Partial<ApnsOptions> = {}): Provider {
  const channel = apns({
    key: APNS_KEY,
    keyId: 'KEY1234567',
    teamId: 'TEAM123456',
    topic: 'com.example.app',
    baseUrl,
    ca: certificate,
    ...change,
  })
  onTestFinished(() => channel.close?.())
  return channel
}

export const sendPush = (channel: Provider, id = '1', change: Partial<Message> = {}) =>
  channel.send({ ...PUSH, ...change }, pushContext(id))
