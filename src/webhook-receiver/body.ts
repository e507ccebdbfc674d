import { NotifierError } from '../core/errors/notifier-error.ts'

/** Bytes to read and discard beyond the limit, so that the sender can receive the answer. */
const DRAIN_BYTES = 1024 * 1024

/**
 * Collects a body.
 *
 * @param declared the header `content-length`
 * @throws NotifierError `payload_too_large` above `limit` bytes
 */
export async function collectBody(
  chunks: AsyncIterable<Uint8Array | string>,
  limit: number,
  declared: string | null | undefined,
): Promise<Uint8Array> {
  if (Number(declared ?? 0) > limit + DRAIN_BYTES) throw tooLarge(limit)
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    // The host application may have set an encoding on the stream.
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    size += bytes.length
    if (size <= limit) kept.push(bytes)
    if (size > limit + DRAIN_BYTES) break
  }
  if (size > limit) throw tooLarge(limit)
  return Buffer.concat(kept)
}

/** Checks the size of a body that was already read. */
export function boundedBody(body: string | Uint8Array, limit: number): string | Uint8Array {
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (size > limit) throw tooLarge(limit)
  return body
}

export function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** @param remedy the change to make in this framework */
export function alreadyRead(remedy: string): NotifierError {
  return new NotifierError('body_already_read', {
    message: `The signature covers the raw body, and a body parser has consumed it. ${remedy}`,
  })
}

function tooLarge(limit: number): NotifierError {
  return new NotifierError('payload_too_large', {
    message: `The request body is larger than ${limit} bytes. Send less in one request.`,
    details: { limit },
  })
}
