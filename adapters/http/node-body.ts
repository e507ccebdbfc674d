import type { IncomingMessage } from 'node:http'
import { NotifierError } from '../../src/domain/errors/notifier-error.ts'

/** A client that stops in the middle of a body must not hold a request open for ever. */
const BODY_TIMEOUT_MS = 30_000
const EMPTY = new Uint8Array()

/** Reads a body that nobody has begun to read; see `HttpRequest.readBody`. */
export function readNodeBody(req: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (Number(req.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit))
  if (req.destroyed) return Promise.reject(incomplete())
  // Most bodies arrive in one piece with the head of the request: then no listener and no timer is needed.
  if (req.complete) {
    const all: Uint8Array = req.read() ?? EMPTY
    return all.length > limit ? Promise.reject(tooLarge(limit)) : Promise.resolve(all)
  }
  return collect(req, limit)
}

function collect(req: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    function settle(error?: NotifierError): void {
      clearTimeout(timer)
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      if (error === undefined) {
        resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, size))
        return
      }
      // What is still to come is not read here any more; the answer decides about the rest.
      req.pause()
      reject(error)
    }
    function onData(chunk: Uint8Array): void {
      size += chunk.length
      if (size > limit) settle(tooLarge(limit))
      else chunks.push(chunk)
    }
    function onEnd(): void {
      settle()
    }
    function onClose(): void {
      settle(incomplete())
    }
    const timer = setTimeout(() => settle(new NotifierError('request_timeout')), BODY_TIMEOUT_MS)
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function tooLarge(limit: number): NotifierError {
  return new NotifierError('payload_too_large', {
    message: `The request body is larger than ${limit} bytes. Send less in one request.`,
    details: { limit },
  })
}

function incomplete(): NotifierError {
  return new NotifierError('invalid_json', {
    message: 'The connection was closed before the request body was complete.',
  })
}
