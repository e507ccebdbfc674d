import { isUtf8 } from 'node:buffer'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>

/** The content codings that gateways apply (RFC 9110 8.4.1). */
const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // Some servers leave out the zlib header.
  deflate: (bytes) => (hasZlibHeader(bytes) ? createInflate() : createInflateRaw()),
}

/** Servers apply one, rarely two. Each costs a pass. */
const MAX_CODINGS = 3

/** A decoded body. */
export interface Decoded {
  readonly bytes: Buffer
  /** False: the rest is missing, broken or too long, or the coding is unknown. */
  readonly whole: boolean
}

/** The codings of a body in the order of their application. Empty: it needs no decoding. */
export function codingsOf(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
}

/**
 * Removes the codings of a body. Never rejects. A body that is not coded, despite its header, stays as it is.
 *
 * @param most largest decoded size in bytes, against small bodies that expand without end
 */
export async function decodeBody(bytes: Buffer, codings: readonly string[], most: number): Promise<Decoded> {
  if (codings.length > MAX_CODINGS) return { bytes: Buffer.alloc(0), whole: false }
  let decoded: Decoded = { bytes, whole: true }
  for (const coding of codings.toReversed()) {
    const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (create === undefined) return { bytes: Buffer.alloc(0), whole: false }
    const next = await decode(create(decoded.bytes), decoded.bytes, most)
    decoded = { bytes: next.bytes, whole: decoded.whole && next.whole }
  }
  return decoded
}

function decode(decoder: Decoder, bytes: Buffer, most: number): Promise<Decoded> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const end = (whole: boolean): void => {
      decoder.destroy()
      resolve({ bytes: Buffer.concat(chunks).subarray(0, most), whole })
    }
    decoder
      .on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > most) end(false)
      })
      .on('end', () => end(true))
      .on('error', () => {
        if (size === 0 && isUtf8(bytes)) resolve({ bytes, whole: true })
        else end(false)
      })
      .end(bytes)
  })
}

/** RFC 1950 2.2. */
function hasZlibHeader([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0
}
