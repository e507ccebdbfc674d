import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import type { BodyLimits } from '../../src/core/rest/message.ts'
import { tooLarge } from '../../src/http/json-body.ts'
import { EMPTY, IDLE_MS, incomplete } from './body-timeout.ts'

/** Reads an unread body; see `HttpRequest.readBody`. */
export function readNodeBody(
  req: IncomingMessage,
  limits: BodyLimits,
  idleMs: number = IDLE_MS,
): Promise<Uint8Array> {
  const { bytes } = limits
  if (Number(req.headers['content-length'] ?? 0) > bytes) return Promise.reject(tooLarge(bytes))
  // Node destroys a stream that has ended. A parser of the host that found an empty body consumed nothing.
  if (req.readableEnded) return Promise.resolve(EMPTY)
  if (req.destroyed) return Promise.reject(incomplete())
  // Most bodies arrive with the head of the request and need no listener and no timer.
  if (req.complete) {
    const all = buffered(req)
    return all.length > bytes ? Promise.reject(tooLarge(bytes)) : Promise.resolve(all)
  }
  return collect(req, limits, idleMs)
}

/**
 * The bytes that have arrived. Since Node.js 26 each read returns one chunk: https://github.com/nodejs/node/pull/60441.
 */
function buffered(req: IncomingMessage): Uint8Array {
  const pieces: Uint8Array[] = []
  for (let piece = req.read(); piece !== null; piece = req.read()) pieces.push(toBytes(piece))
  return joined(pieces)
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first = EMPTY] = pieces
  return pieces.length > 1 ? Buffer.concat(pieces) : first
}

/** Reads the rest of a stream. Every rejection is a NotifierError. */
export function collect(
  stream: Readable,
  { bytes: limit, timeoutMs, watch }: BodyLimits,
  idleMs: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = []
    let size = 0
    function settle(error?: NotifierError): void {
      clearTimeout(idle)
      clearTimeout(deadline)
      stream.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      // After an error the stream keeps flowing and discards its data, until the answer decides about the rest.
      if (error === undefined) resolve(joined(pieces))
      else reject(error)
    }
    function onData(chunk: Uint8Array | string): void {
      const bytes = toBytes(chunk)
      size += bytes.length
      idle.refresh()
      if (size > limit) {
        settle(tooLarge(limit))
        return
      }
      pieces.push(bytes)
      arrived?.(bytes.length)
    }
    const onEnd = (): void => settle()
    const onClose = (): void => settle(incomplete())
    const onTimeout = (): void => settle(new NotifierError('request_timeout'))
    const idle = setTimeout(onTimeout, idleMs)
    const deadline = setTimeout(onTimeout, timeoutMs)
    const arrived = watch?.(settle)
    stream.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

/** The host application may have set an encoding, which turns chunks into text. */
function toBytes(chunk: Uint8Array | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
