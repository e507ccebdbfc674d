import { generateKeyPairSync } from 'node:crypto'
import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { apns } from '../../adapters/channels/apns/send.ts'
import type { Outcome } from '../../src/core/notification/outcome.ts'
import { sendContext } from '../support/channel-context.ts'
import { http2Server } from '../support/http2-server.ts'
import { certificate } from '../support/localhost-certificate.ts'

/* Whatever a server does to its connections: what is called certain is certain. */

const DEEDS = [
  'answers',
  'answers and says goodbye',
  'says goodbye, unseen',
  'says goodbye with an error, unseen',
  'refuses the stream, unseen',
  'acts and resets the stream',
  'acts and breaks the connection',
] as const
type Deed = (typeof DEEDS)[number]

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Deeds are done in the order in which requests arrive; after the last one the server answers. */
async function play(deeds: readonly Deed[], messages: number, maxConcurrentStreams: number) {
  const acted = new Set<string>()
  // RFC 9113 6.8: a server does not act on streams beyond the last one that it named in its goodbye.
  const lastOf = new Map<Http2Session, number>()
  const highestActed = new Map<Http2Session, number>()
  let arrived = 0

  const act = (stream: ServerHttp2Stream, body: string): void => {
    acted.add(body)
    if (stream.session !== undefined) highestActed.set(stream.session, stream.id ?? 0)
  }
  const goodbye = (session: Http2Session, code: number): void => {
    const last = highestActed.get(session) ?? 0
    lastOf.set(session, last)
    session.goaway(code, last)
  }

  const server = await http2Server(
    (stream, request) => {
      const body = JSON.parse(String(request.body)).aps.alert.body
      const { session } = stream
      if (session === undefined || (stream.id ?? 0) > (lastOf.get(session) ?? Number.POSITIVE_INFINITY))
        return
      const deed = deeds[arrived] ?? 'answers'
      arrived += 1
      switch (deed) {
        case 'says goodbye, unseen':
        case 'says goodbye with an error, unseen':
          // Node.js cannot name stream 0: without a stream that was acted on this one is answered.
          if (highestActed.has(session)) {
            goodbye(
              session,
              deed.includes('error') ? constants.NGHTTP2_INTERNAL_ERROR : constants.NGHTTP2_NO_ERROR,
            )
            return
          }
          break
        case 'refuses the stream, unseen':
          stream.close(constants.NGHTTP2_REFUSED_STREAM)
          return
        case 'acts and resets the stream':
          act(stream, body)
          stream.close(constants.NGHTTP2_INTERNAL_ERROR)
          return
        case 'acts and breaks the connection':
          act(stream, body)
          session.socket.destroy()
          return
      }
      act(stream, body)
      stream.respond({ ':status': 200 }, { endStream: true })
      if (deed === 'answers and says goodbye') goodbye(session, constants.NGHTTP2_NO_ERROR)
    },
    { maxConcurrentStreams },
  )
  const channel = apns({
    key,
    keyId: 'KEY1234567',
    teamId: 'TEAM123456',
    topic: 'com.example.app',
    baseUrl: server.origin,
    ca: certificate,
  })
  const send = (body: string): Promise<Outcome> =>
    channel.send(
      { to: 'ab'.repeat(32), subject: null, body, format: 'text' },
      sendContext({ idempotencyKey: body }),
    )
  try {
    const bodies = Array.from({ length: messages }, (_, index) => `message ${index}`)
    const outcomes = await Promise.all(bodies.map(send))
    return { acted, results: bodies.map((body, index) => ({ body, kind: outcomes[index]?.kind })) }
  } finally {
    await channel.close?.()
    await server.close()
  }
}

it('calls nothing unsent that the server acted on, and nothing accepted that it did not', async () => {
  const deeds = fc.array(fc.constantFrom(...DEEDS), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      deeds,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 20 }),
      async (...given) => {
        const { acted, results } = await play(...given)
        for (const { body, kind } of results) {
          if (kind === 'accepted') expect(acted).toContain(body)
          else if (kind === 'retry') expect(acted).not.toContain(body)
          else expect(kind).toBe('ambiguous')
        }
      },
    ),
    { numRuns: 60, interruptAfterTimeLimit: 30_000 },
  )
})
