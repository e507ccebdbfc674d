import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse } from '../../src/core/rest/message.ts'

/** A smaller rest of a body is read to its end: that costs both sides less than a new connection. */
const DRAIN_BYTES = 64 * 1024
/** Time and bytes that a client may continue to send after a refusal, before the connection closes. */
const LINGER_MS = 1000
const LINGER_BYTES = 16 * 1024 * 1024

/** Sends an answer, unless the client has disconnected or the host application has answered. */
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
