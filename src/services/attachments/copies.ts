import type { RecordReads } from '../records/record-stores.ts'
import { partIds, UPLOAD_LIFETIME_MS, type UploadValue, uploadKind, uploadPartKind } from './kind.ts'

/** Ids per query. */
const AT_ONCE = 1_000
/** Parts per query: each has 1 MiB. */
const PARTS_AT_ONCE = 16

/** The uploads of an organization that a send can use, by id. */
export async function findUploads(
  records: RecordReads,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, UploadValue>> {
  const found = new Map<string, UploadValue>()
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const refs = ids.slice(at, at + AT_ONCE).map((id) => ({ id }))
    for (const upload of await records.get(uploadKind, refs)) {
      if (upload === null || upload.organizationId !== organizationId || !upload.value.complete) continue
      if (upload.readAt < upload.createdAt + UPLOAD_LIFETIME_MS) found.set(upload.id, upload.value)
    }
  }
  return found
}

/** The contents of uploads in base64, by id. One that has been removed meanwhile is missing. */
export async function contentsOf(
  records: RecordReads,
  uploads: ReadonlyMap<string, UploadValue>,
): Promise<Map<string, string>> {
  const parts = [...uploads].flatMap(([id, { size }]) => partIds(id, size).map((part) => ({ id, part })))
  const missing = new Set<string>()
  const contents = new Map<string, string[]>()
  for (let at = 0; at < parts.length; at += PARTS_AT_ONCE) {
    const some = parts.slice(at, at + PARTS_AT_ONCE)
    const read = await records.get(
      uploadPartKind,
      some.map(({ part }) => ({ id: part })),
    )
    for (const [index, { id }] of some.entries()) {
      const content = read[index]?.value.content
      if (content === undefined) missing.add(id)
      else contents.set(id, [...(contents.get(id) ?? []), content])
    }
  }
  const whole = [...contents].filter(([id]) => !missing.has(id))
  return new Map(whole.map(([id, pieces]) => [id, pieces.join('')]))
}
