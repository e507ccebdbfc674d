import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { providerHttp } from '../../adapters/channels/kit/http/provider-http.ts'
import { postmark } from '../../adapters/channels/postmark/send.ts'
import { sendgrid } from '../../adapters/channels/sendgrid/send.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { closedAfterTest, outgoing, request } from '../support/outgoing.ts'
import { httpReceiver } from '../support/receivers.ts'

/* Answers of servers and gateways that compress although the request asks for no encoding. */

const TEXT = JSON.stringify({ id: 'm1', message: 'créé' })
const gzip = gzipSync(TEXT)

/** The answer of a server with this `Content-Encoding`. */
async function answerOf(
  coding: string,
  body: Uint8Array | string,
  more: { readonly maxResponseBytes?: number; readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const receiver = await closedAfterTest(
    httpReceiver((response) => {
      response.writeHead(201, { 'content-encoding': coding })
      response.end(body)
    }),
  )
  const answer = await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`, more))
  return { answer, asked: receiver.requests[0]?.headers['accept-encoding'] }
}

describe('an answer', () => {
  it('is asked for without an encoding, unless the caller names one', async () => {
    expect((await answerOf('identity', TEXT)).asked).toBe('identity')
    const headers = { 'Accept-Encoding': 'gzip' }
    expect((await answerOf('identity', TEXT, { headers })).asked).toBe('gzip')
  })

  it.each<[string, Uint8Array]>([
    ['gzip', gzip],
    ['x-gzip', gzip],
    ['GZIP', gzip],
    ['deflate', deflateSync(TEXT)],
    // Without the zlib header, as some servers send it.
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
    ['', Buffer.from(TEXT)],
    ['gzip, br', brotliCompressSync(gzip)],
    ['identity, deflate , gzip', gzipSync(deflateSync(TEXT))],
  ])('is decoded: %s', async (coding, body) => {
    const { answer } = await answerOf(coding, body)
    expect(answer).toMatchObject({ kind: 'answered', status: 201, body: TEXT })
    expect(answer).not.toHaveProperty('cut')
  })

  it.each(['gzip', 'deflate', 'br'])(
    'that is not encoded in spite of its header stays: %s',
    async (coding) => {
      const { answer } = await answerOf(coding, TEXT)
      expect(answer).toMatchObject({ status: 201, body: TEXT })
      expect(answer).not.toHaveProperty('cut')
    },
  )

  it.each<[string, Uint8Array]>([
    ['gzip', gzip.subarray(0, -9)],
    ['gzip', gzip.subarray(0, 15)],
    ['gzip', Buffer.concat([gzip.subarray(0, 20), Buffer.alloc(20, 0xff)])],
    ['br', brotliCompressSync(TEXT).subarray(0, -3)],
    ['deflate', Buffer.from([0xff, 0xff, 0xff])],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
    ['gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzip)))],
    ['constructor', Buffer.from(TEXT)],
  ])('that is broken or unknown keeps its status: %s', async (coding, body) => {
    const { answer } = await answerOf(coding, body)
    expect(answer).toMatchObject({ kind: 'answered', status: 201, cut: true })
  })

  it.each<[string, (text: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('that expands without end is read to the limit: %s', async (coding, encode) => {
    const bomb = encode(Buffer.alloc(5_000_000, 'a'))
    const { answer } = await answerOf(coding, bomb, { maxResponseBytes: 100_000 })
    expect(answer).toMatchObject({ status: 201, cut: true })
    expect(answer.kind === 'answered' && answer.body).toBe('a'.repeat(100_000))
  })

  it('without a body needs no decoding', async () => {
    const { answer } = await answerOf('gzip', '')
    expect(answer).toMatchObject({ status: 201, body: '' })
    expect(answer).not.toHaveProperty('cut')
  })
})

describe('a provider', () => {
  /** The outcome of one mail to a server that answers so, and the number of requests. */
  async function outcomeOf(
    create: (baseUrl: string) => Provider,
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
  ) {
    const receiver = await closedAfterTest(
      httpReceiver((response) => {
        response.writeHead(status, headers)
        response.end(body)
      }),
    )
    const provider = create(`http://127.0.0.1:${receiver.port}`)
    const outcome = await provider.send(mailMessage(), sendContext())
    await provider.close?.()
    return outcome
  }
  const from = 'no-reply@example.org'
  const viaPostmark = (baseUrl: string) => postmark({ serverToken: 'x', from, baseUrl })
  const viaSendgrid = (baseUrl: string) => sendgrid({ apiKey: 'x', from, baseUrl })
  const taken = gzipSync(JSON.stringify({ ErrorCode: 0, MessageID: 'pm-1', Message: 'OK' }))

  it('knows the id and the refusal in an encoded answer', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect(await outcomeOf(viaPostmark, 200, headers, taken)).toEqual({
      kind: 'accepted',
      providerMessageId: 'pm-1',
    })
    const refusal = gzipSync(JSON.stringify({ ErrorCode: 300, Message: "Invalid 'To' address" }))
    expect(await outcomeOf(viaPostmark, 422, headers, refusal)).toMatchObject({
      kind: 'rejected',
      code: 'invalid_recipient',
      providerCode: '300',
    })
  })

  it('does not know of an unreadable success, unless status and headers suffice', async () => {
    const headers = { 'content-encoding': 'gzip', 'x-message-id': 'sg-1' }
    const broken = taken.subarray(0, 20)
    expect(await outcomeOf(viaPostmark, 200, headers, broken)).toMatchObject({ kind: 'ambiguous' })
    expect(await outcomeOf(viaSendgrid, 202, headers, broken)).toEqual({
      kind: 'accepted',
      providerMessageId: 'sg-1',
    })
    expect(await outcomeOf(viaPostmark, 422, headers, broken)).toMatchObject({ kind: 'rejected' })
  })

  it('asks for no encoding', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end('{}')))
    const http = providerHttp({ maxConnections: 1, timeoutMs: 600_000, secrets: [] })
    await http.request({ url: `http://127.0.0.1:${receiver.port}/`, headers: {} })
    http.close()
    expect(receiver.requests[0]?.headers['accept-encoding']).toBe('identity')
  })
})
