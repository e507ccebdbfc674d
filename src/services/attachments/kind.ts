import type { RecordKind } from '../../domain/record-kind.ts'
import type { Expiring } from '../retention/retention.ts'

/** How long a send can use an upload. Then the retention removes it. */
export const UPLOAD_LIFETIME_MS: number = 86_400_000

/** Bytes of one part: a multiple of three, so that the base64 of all parts is that of the file; 1 MiB of base64. */
export const PART_BYTES: number = 768 * 1024

/** An uploaded file without its content. Small, because lists return whole values. */
export interface UploadValue {
  readonly filename: string
  readonly contentType: string
  /** Size in bytes. */
  readonly size: number
  /** False: its parts are still being stored, or the process that stored them has ended. */
  readonly complete: boolean
}

export const uploadKind: RecordKind<UploadValue> = { name: 'uploads', version: 1 }

/** A part of the content of an uploaded file. */
export interface UploadPartValue {
  /** Base64. */
  readonly content: string
}

export const uploadPartKind: RecordKind<UploadPartValue> = { name: 'upload_parts', version: 1 }

/** Also parts without a head, which an upload leaves behind whose process was killed. Parts are large, so few go at once. */
export const EXPIRING_UPLOADS: readonly Expiring[] = [
  { kind: uploadKind, olderThanMs: UPLOAD_LIFETIME_MS, owned: true },
  { kind: uploadPartKind, olderThanMs: UPLOAD_LIFETIME_MS, owned: true, most: 10 },
]

/** Ids of the parts of an upload, in order. */
export function partIds(id: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(size / PART_BYTES) }, (_, index) => `${id}/${index}`)
}
