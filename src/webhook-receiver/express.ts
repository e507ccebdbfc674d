import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ParsedBody, readNodeBody } from './node-body.ts'
import { createReceiver, type ReceiverOptions } from './receive.ts'

/** A handler for Express 4 and 5, typed without Express's own types. */
export type ExpressReceiver = (
  req: IncomingMessage & ParsedBody,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void

const REMEDY =
  "Register this route before app.use(express.json()), or give it express.raw({ type: '*/*' }) instead."

/**
 * Receives webhooks in Express 4 and 5 and compatible frameworks. Reads the body itself, or takes the bytes of an
 * earlier parser (`express.raw`, or one that sets `req.rawBody`).
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * app.post('/events', expressReceiver({ secret, handle: async (event) => { await store(event) } }))
 */
export function expressReceiver(options: ReceiverOptions): ExpressReceiver {
  const receiver = createReceiver(options)
  return function carillonWebhook(req, res, next) {
    receiver
      .receive(req.headers, () => readNodeBody(req, req, receiver.maxBodyBytes, REMEDY))
      .then(({ status, headers, body }) => {
        if (res.headersSent || res.destroyed) return
        res.writeHead(status, headers)
        res.end(body)
      })
      .catch(next)
  }
}
