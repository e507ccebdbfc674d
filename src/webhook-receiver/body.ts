import { NotifierError } from '../domain/errors/notifier-error.ts'

/** What is beyond the limit is read on so far and thrown away, so that the sender is there to hear the answer. */
const DRAIN_BYTES = 1024 * 1024

/**
 * Puts a body together.
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

/** A body that somebody else has read, within the limit. */
export function boundedBody(body: string | Uint8Array, limit: number): string | Uint8Array {
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (size > limit) throw tooLarge(limit)
  return body
}

export function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** @param remedy what to change in this framework */
export function alreadyRead(remedy: string): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `The signature is over the bytes of the body, and a body parser has consumed them. ${remedy}`,
  })
}

function tooLarge(limit: number): NotifierError {
  return new NotifierError('payload_too_large', {
    message: `The request body is larger than ${limit} bytes. Send less in one request.`,
    details: { limit },
  })
}
