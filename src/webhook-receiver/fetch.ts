import { alreadyRead, collectBody } from './body.ts'
import { createReceiver, type ReceiverOptions } from './receive.ts'

/** Answers a request. */
export type FetchReceiver = (request: Request) => Promise<Response>

const REMEDY = 'Pass the request before its json() or text() is called, or pass a clone() made before that.'

/**
 * Receives webhooks in anything that uses `Request` and `Response`: Hono, Next.js route handlers, Bun, Deno.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * export const POST = fetchReceiver({ secret, handle: async (event) => { await store(event) } })
 */
export function fetchReceiver(options: ReceiverOptions): FetchReceiver {
  const receiver = createReceiver(options)
  return async function carillonWebhook(request) {
    const { headers } = request
    const answer = await receiver.receive(headers, async () => {
      if (request.bodyUsed) throw alreadyRead(REMEDY)
      return collectBody(request.body ?? NO_CHUNKS, receiver.maxBodyBytes, headers.get('content-length'))
    })
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  }
}

const NO_CHUNKS: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }
