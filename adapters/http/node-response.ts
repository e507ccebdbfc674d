import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse } from '../../src/http/message.ts'

/** A rest of a body that is smaller is read to its end: cheaper for both sides than a new connection. */
const DRAIN_BYTES = 64 * 1024
/** How long and how much a client may go on sending after its request was refused, before the connection is cut. */
const LINGER_MS = 1000
const LINGER_BYTES = 16 * 1024 * 1024

/** Sends an answer, unless the client has gone or the host application has answered meanwhile. */
export function writeNodeResponse(req: IncomingMessage, res: ServerResponse, response: HttpResponse): void {
  if (res.headersSent || res.destroyed) {
    req.resume()
    return
  }
  const headers = keepHostPolicy(res, response.headers)
  if (restIsSmall(req)) {
    res.writeHead(response.status, headers)
    res.end(response.body ?? undefined)
    return
  }
  refuseRest(req, res, response, headers)
}

/**
 * True when a framework may send an answer in its own way. Else {@link writeNodeResponse} must: the client has gone,
 * or is still sending.
 */
export function isPlainAnswer(req: IncomingMessage, res: ServerResponse): boolean {
  return !res.headersSent && !res.destroyed && !req.socket.destroyed && restIsSmall(req)
}

/** HSTS is a promise of the whole host: one that the application has made itself is not overwritten. */
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
 * Answers while the client is still sending. Cutting the connection at once would make its system discard the
 * answer unread, so that what it sends is thrown away for a moment, and the connection is closed then.
 */
function refuseRest(
  req: IncomingMessage,
  res: ServerResponse,
  response: HttpResponse,
  headers: Record<string, string>,
): void {
  if (req.httpVersionMajor < 2) headers.Connection = 'close'
  res.writeHead(response.status, headers)
  if (response.body !== null) res.write(response.body)
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
