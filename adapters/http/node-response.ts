import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { HttpResponse } from '../../src/core/rest/message.ts'

/** A smaller rest of a body is read to its end: that costs both sides less than a new connection. */
const DRAIN_BYTES = 64 * 1024
/** Time and bytes that a client may continue to send after a refusal, before the connection closes. */
const LINGER_MS = 1000
const LINGER_BYTES = 16 * 1024 * 1024

/** Time that a client may take to read a part of a response before its connection closes. */
export const SLOWEST_READ_MS = 120_000

/** A body for a framework: chunks as a stream. */
export function nodeBody(
  { body }: HttpResponse,
  res: Pick<ServerResponse, 'destroy'>,
): string | Buffer | Readable | null {
  return body === null || typeof body === 'string' || body instanceof Uint8Array ? body : streamOf(body, res)
}

function streamOf(body: AsyncIterable<Uint8Array>, res: Pick<ServerResponse, 'destroy'>): Readable {
  const chunks = body[Symbol.asyncIterator]()
  let unread: NodeJS.Timeout | undefined
  return new Readable({
    // None is asked for in advance.
    highWaterMark: 0,
    read() {
      clearTimeout(unread)
      chunks.next().then(
        ({ done, value }) => {
          if (this.destroyed) return
          if (!done) unread = setTimeout(() => res.destroy(), SLOWEST_READ_MS).unref()
          this.push(done ? null : value)
        },
        (error) => this.destroy(error),
      )
    },
    destroy(error, callback) {
      clearTimeout(unread)
      const ended = chunks.return?.() ?? Promise.resolve()
      ended.then(() => callback(error), callback)
    },
  })
}

/** Sends an answer, unless the client has disconnected or the host application has answered. */
export function writeNodeResponse(req: IncomingMessage, res: ServerResponse, response: HttpResponse): void {
  const body = nodeBody(response, res)
  if (res.headersSent || res.destroyed) {
    if (body instanceof Readable) body.destroy()
    req.resume()
    return
  }
  const headers = keepHostPolicy(res, response.headers)
  if (body instanceof Readable) {
    res.writeHead(response.status, headers)
    // Destroys both when one fails.
    pipeline(body, res, () => {})
  } else if (restIsSmall(req)) {
    res.writeHead(response.status, headers)
    res.end(body ?? undefined)
  } else {
    refuseRest(req, res, response.status, body, headers)
  }
}

/**
 * True: the framework may send the answer itself. False: {@link writeNodeResponse} must, because the client has
 * disconnected or is still sending.
 */
export function isPlainAnswer(req: IncomingMessage, res: ServerResponse): boolean {
  return !res.headersSent && !res.destroyed && !req.socket.destroyed && restIsSmall(req)
}

/** HSTS applies to the whole host, so the application's own header wins. */
export function keepHostPolicy(
  res: Pick<ServerResponse, 'hasHeader'>,
  headers: HttpResponse['headers'],
): Record<string, string> {
  const { 'Strict-Transport-Security': policy, ...others } = headers
  return policy === undefined || res.hasHeader('strict-transport-security') ? others : { ...headers }
}

function restIsSmall(req: IncomingMessage): boolean {
  if (req.complete) return true
  const declared = req.headers['content-length']
  return declared !== undefined && Number(declared) <= DRAIN_BYTES
}

/**
 * Answers while the client is still sending. If the connection closed at once, the client's system would discard the
 * unread answer. So the rest of the body is discarded for a moment first.
 */
function refuseRest(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  body: string | Buffer | null,
  headers: Record<string, string>,
): void {
  if (req.httpVersionMajor < 2) headers.Connection = 'close'
  res.writeHead(status, headers)
  if (body !== null) res.write(body)
  else res.flushHeaders()
  let left = LINGER_BYTES
  function discard(chunk: Uint8Array): void {
    left -= chunk.length
    if (left < 0) end()
  }
  function end(): void {
    clearTimeout(timer)
    req.off('data', discard).off('end', end).off('close', end)
    res.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  req.on('data', discard).on('end', end).on('close', end)
}
