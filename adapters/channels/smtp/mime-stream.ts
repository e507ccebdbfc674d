import { Readable } from 'node:stream'
import { once } from '../../../src/core/loop/steps.ts'
import type { SendContext } from '../../../src/core/ports/provider.ts'
import type { MimePieces } from './mime.ts'

/** A line of base64 has 76 characters for 57 bytes. */
const LINE_CHARACTERS = 76
const CHUNK_BYTES = 57 * 1024

/** Streams a mail that is encoded while it is read, so that no file is in memory in base64. */
export function mimeStream(pieces: MimePieces, runInSlices: SendContext['runInSlices']): Readable {
  const chunks = chunksOf(pieces)
  let next = chunks.next()
  return new Readable({
    read() {
      // Some versions of nodemailer (7.0.11, 10.0) drain a mail that they will not send and then fail in the same turn.
      // `readableDidRead` must still be false at that point.
      setImmediate(async () => {
        try {
          // Includes the connection's work on a chunk.
          await runInSlices(once(() => pushNext(this)))
        } catch (error) {
          this.destroy(error instanceof Error ? error : new Error(String(error)))
        }
      })
    },
  })

  function pushNext(stream: Readable): void {
    if (stream.destroyed) return
    stream.push(next.value, 'latin1')
    next = chunks.next()
    if (next.done === true) stream.push(null)
  }
}

/** Size of the stream in bytes, as a server's limit counts it (RFC 1870 3). */
export function mimeLength(pieces: MimePieces): number {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? piece.length : base64Length(piece)
  return length
}

function base64Length({ byteLength }: Uint8Array): number {
  const characters = 4 * Math.ceil(byteLength / 3)
  return characters + 2 * Math.max(0, Math.ceil(characters / LINE_CHARACTERS) - 1)
}

function* chunksOf(pieces: MimePieces): Generator<string, undefined> {
  for (const piece of pieces) {
    if (typeof piece !== 'string') yield* base64Of(piece)
    else
      for (let at = 0; at < piece.length || at === 0; at += CHUNK_BYTES)
        yield piece.slice(at, at + CHUNK_BYTES)
  }
}

function* base64Of(bytes: Uint8Array): Generator<string, undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let start = 0; start < buffer.length; start += CHUNK_BYTES) {
    const characters = buffer.toString('base64', start, start + CHUNK_BYTES)
    const lines: string[] = start === 0 ? [] : ['']
    for (let at = 0; at < characters.length; at += LINE_CHARACTERS) {
      lines.push(characters.slice(at, at + LINE_CHARACTERS))
    }
    yield lines.join('\r\n')
  }
}
