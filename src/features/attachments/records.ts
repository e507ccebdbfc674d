import type { RecordKind } from '../../core/records/record-kind.ts'

/** How long a send can name an upload. */
export const UPLOAD_LIFETIME_MS: number = 86_400_000

/** Bytes of one part: a multiple of three, so that the base64 of all parts is that of the file; 1 MiB of base64. */
export const PART_BYTES: number = 768 * 1024

/** A part of the content of an uploaded file. It is stored after the file's record, and removed with it. */
export interface UploadPartValue {
  /** Base64. */
  readonly content: string
}

export const uploadPartKind: RecordKind<UploadPartValue> = { name: 'upload_parts', version: 1 }

/** Ids of the parts of an upload, in order. */
export function partIds(id: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(size / PART_BYTES) }, (_, index) => `${id}/${index}`)
}
