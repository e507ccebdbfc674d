import type { IncomingMessage } from 'node:http'
import { type ParsedBody, readNodeBody } from './node-body.ts'
import { createReceiver, type ReceiverOptions } from './receive.ts'

/** The part of a Fastify 5 request in use. */
export interface FastifyWebhookRequest {
  readonly raw: IncomingMessage
}

/** The part of a Fastify 5 reply in use. */
export interface FastifyWebhookReply {
  code(status: number): unknown
  headers(values: Record<string, string>): unknown
  send(payload: string): unknown
}

/** The part of a Fastify 5 instance in use. */
export interface FastifyWebhookScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parser: (request: never, payload: never, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  post(
    path: string,
    handler: (request: FastifyWebhookRequest, reply: FastifyWebhookReply) => Promise<unknown>,
  ): unknown
}

/** A plugin for Fastify 5, typed without Fastify's own types. */
export type FastifyReceiver = (scope: FastifyWebhookScope, options: object) => Promise<void>

const REMEDY = 'A hook of the application reads the stream first: exclude this route from it.'

/**
 * Receives webhooks in Fastify 5: a plugin with one route, `POST` at its prefix. Encapsulated: it reads the body itself
 * and does not change the application's parsers.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * fastify.register(fastifyReceiver({ secret, handle: async (event) => { await store(event) } }), { prefix: '/events' })
 */
export function fastifyReceiver(options: ReceiverOptions): FastifyReceiver {
  const receiver = createReceiver(options)

  async function carillonWebhook(scope: FastifyWebhookScope): Promise<void> {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.post('/', answer)
  }

  async function answer(request: FastifyWebhookRequest, reply: FastifyWebhookReply): Promise<unknown> {
    const { raw } = request
    const { status, headers, body } = await receiver.receive(raw.headers, () =>
      readNodeBody(raw, request as ParsedBody, receiver.maxBodyBytes, REMEDY),
    )
    reply.code(status)
    reply.headers(headers)
    reply.send(body)
    return reply
  }

  return Object.assign(carillonWebhook, {
    [Symbol.for('plugin-meta')]: { name: 'carillon-webhooks', fastify: '5.x' },
  })
}
