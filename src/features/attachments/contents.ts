import { setImmediate as nextTurn } from 'node:timers/promises'
import { filesOf, isNamedUpload, type NamedUpload } from '../../core/accept/named-uploads.ts'
import { type UploadValue, uploadGone, uploadKind } from '../../core/accept/upload.ts'
import type { UploadContents } from '../../core/delivery/upload-contents.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { CHUNK_BYTES, chunkIds, UPLOAD_LIFETIME_MS, uploadChunkKind } from './records.ts'

/** Ids per query. */
const AT_ONCE = 1_000

/** The uploads of an organization that a send can name, by id. */
export async function findUploads(
  records: RecordReads,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, UploadValue>> {
  const found = new Map<string, UploadValue>()
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const refs = ids.slice(at, at + AT_ONCE).map((id) => ({ id }))
    for (const upload of await records.get(uploadKind, refs)) {
      if (upload === null || upload.organizationId !== organizationId) continue
      const { complete, deleted } = upload.value
      if (!complete || deleted || upload.readAt >= upload.createdAt + UPLOAD_LIFETIME_MS) continue
      found.set(upload.id, upload.value)
    }
  }
  return found
}

/** Most bytes in the cache: of the latest uploads. */
const MOST_CACHED = 32 * 1024 * 1024

/** Chunks never change, so no entry is stale. */
export function createUploadContents(records: RecordReads): UploadContents {
  const entries = new Map<string, { readonly size: number; readonly bytes: Promise<Uint8Array> }>()
  let cached = 0

  function forget(id: string): void {
    cached -= entries.get(id)?.size ?? 0
    entries.delete(id)
  }

  function bytesOf({ id, size }: StoredFile): Promise<Uint8Array> {
    const known = entries.get(id)
    forget(id)
    const entry = known ?? { size, bytes: read(records, id, size) }
    entries.set(id, entry)
    cached += size
    for (const oldest of entries.keys()) {
      if (cached <= MOST_CACHED) break
      forget(oldest)
    }
    if (known === undefined) entry.bytes.catch(() => entries.get(id) === entry && forget(id))
    return entry.bytes
  }

  return {
    into(parts, isWanted = () => true) {
      const files = filesOf(parts)
      const isRead = (file: object): file is NamedUpload => isNamedUpload(file) && isWanted(file)
      if (!files.some(isRead)) return undefined
      const whole = files.map(async (file) =>
        isRead(file) ? { ...file, content: await bytesOf(file as StoredFile) } : file,
      )
      return Promise.all(whole).then((attachments) => ({ ...parts, attachments }))
    },
  }
}

interface StoredFile {
  readonly id: string
  readonly size: number
}

/** A chunk in each turn of the event loop: decoding one takes a millisecond. */
async function read(records: RecordReads, id: string, size: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(size)
  for (const [index, chunk] of chunkIds(id, size).entries()) {
    const [stored] = await records.get(uploadChunkKind, [{ id: chunk }])
    if (stored === null || stored === undefined) throw uploadGone()
    bytes.write(stored.value.content, index * CHUNK_BYTES, 'base64')
    await nextTurn()
  }
  return bytes
}
