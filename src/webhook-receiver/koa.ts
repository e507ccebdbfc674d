import type { IncomingMessage } from 'node:http'
import { type ParsedBody, readNodeBody } from './node-body.ts'
import { createReceiver, type ReceiverOptions } from './receive.ts'

/** The part of a Koa 2 or 3 context in use. */
export interface KoaWebhookContext {
  readonly req: IncomingMessage
  readonly request: object
  status: number
  body: unknown
  set(headers: Record<string, string>): unknown
}

/** A middleware for Koa 2 and 3, typed without Koa's own types. */
export type KoaReceiver = (context: KoaWebhookContext) => Promise<void>

const REMEDY = 'Use this middleware before the body parser, or a parser that keeps ctx.request.rawBody.'

/**
 * Receives webhooks in Koa 2 and 3: every request that reaches it, so mount it at a path with a router or `koa-mount`.
 * Reads the body itself, or takes `ctx.request.rawBody` of an earlier parser.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * router.post('/events', koaReceiver({ secret, handle: async (event) => { await store(event) } }))
 */
export function koaReceiver(options: ReceiverOptions): KoaReceiver {
  const receiver = createReceiver(options)
  return async function carillonWebhook(context) {
    const { req, request } = context
    const answer = await receiver.receive(req.headers, () =>
      readNodeBody(req, request as ParsedBody, receiver.maxBodyBytes, REMEDY),
    )
    context.status = answer.status
    context.body = answer.body
    context.set(answer.headers)
  }
}
