import type { RecordKind } from '../../core/records/record-kind.ts'

/** How long a send can name an upload. */
export const UPLOAD_LIFETIME_MS: number = 86_400_000

/** Bytes of one chunk: a multiple of three, so that the base64 of all chunks is that of the file; 1 MiB of base64. */
export const CHUNK_BYTES: number = 768 * 1024

/** A chunk of the content of an uploaded file. It is stored after the file's record, and removed with it. */
export interface UploadChunkValue {
  /** Base64. */
  readonly content: string
}

export const uploadChunkKind: RecordKind<UploadChunkValue> = {
  name: 'upload_chunks',
  version: 1,
  notPersonal: 'goes with its upload',
}

/** Ids of the chunks of an upload, in order. */
export function chunkIds(id: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(size / CHUNK_BYTES) }, (_, index) => `${id}/${index}`)
}
