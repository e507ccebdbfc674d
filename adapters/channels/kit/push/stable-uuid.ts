import { createHash } from 'node:crypto'

/** A UUID (RFC 9562, version 8) derived from a text. */
export function stableUuid(text: string): string {
  const bytes = createHash('sha256').update(text, 'utf8').digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
