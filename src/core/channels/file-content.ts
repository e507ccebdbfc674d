import { UnreadableFile } from '../errors/unreadable-file.ts'

/** Longest file that is read from a stream or a path: longer than any channel takes. */
export const MOST_FILE_BYTES: number = 32 * 1024 * 1024

/** Decoded size of valid base64. */
export function decodedLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
}

/** Accepts only canonical base64, because decoders disagree about the rest. */
export function isBase64(value: string): boolean {
  return value.length % 4 === 0 && Buffer.from(value, 'base64').toString('base64') === value
}

/** Accepts bytes of another realm (test runners). Arrays of wider elements have no defined byte order. */
export function bytesOf(given: unknown): Uint8Array | null {
  const kind = Object.prototype.toString.call(given)
  if (kind === '[object ArrayBuffer]') return new Uint8Array(given as ArrayBuffer)
  return kind === '[object Uint8Array]' && ArrayBuffer.isView(given) ? (given as Uint8Array) : null
}

export function isStream(content: unknown): content is AsyncIterable<unknown> {
  return typeof content === 'object' && content !== null && Symbol.asyncIterator in content
}

/**
 * The bytes of a stream. Leaves one that is too long, which ends it.
 *
 * @param tooLong makes the error for more than `most` bytes
 */
export async function collect(
  stream: AsyncIterable<unknown>,
  most: number,
  tooLong: () => Error,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!(bytes instanceof Uint8Array))
      throw new Error('the stream has chunks that are neither bytes nor text')
    size += bytes.byteLength
    if (size > most) throw tooLong()
    chunks.push(bytes)
  }
  return Buffer.concat(chunks, size)
}

/** The message of an error while reading. */
export function unreadable(cause: unknown): string {
  return new UnreadableFile(cause).message
}
