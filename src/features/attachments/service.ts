import { type UploadValue, uploadKind } from '../../core/accept/upload.ts'
import { bytesOf, collect, isBase64, isStream, unreadable } from '../../core/channels/file-content.ts'
import { isNotifierError, NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { shortName } from '../../core/input/listed-names.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { byId, owned, parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { Attachments } from './api.ts'
import { uploadInput } from './input.ts'
import type { UploadRecord } from './model.ts'
import type { ResolvedAttachments } from './options.ts'
import { CHUNK_BYTES, chunkIds, UPLOAD_LIFETIME_MS, uploadChunkKind } from './records.ts'
import { NAMED_MS, REST_MS, removeUpload } from './removal.ts'

export interface UploadServices extends FeatureCore {
  readonly attachments: ResolvedAttachments
}

/** The use cases of uploads. */
export function createUploads({
  stores,
  storage: { records },
  ids,
  organizations,
  clock,
  attachments: { maxBytes },
}: UploadServices): PerTenant<Attachments> {
  const heads = stores.of(uploadKind)
  const chunks = stores.of(uploadChunkKind)
  /** A deletion needs no budget. */
  const marks = stores.always(uploadKind)

  /** False: it was gone. */
  async function remove(upload: StoredRecord<UploadValue>): Promise<boolean> {
    const answer = await removeUpload(records, upload, clock.now() + REST_MS)
    if (answer !== 'named') return answer === 'removed'
    const marked = await marks.change(upload.id, ({ value, readAt }) => ({
      ...value,
      deleted: true as const,
      removeAt: readAt + NAMED_MS,
    }))
    return marked !== 'unknown'
  }

  async function storeParts(id: string, organizationId: string, content: Uint8Array): Promise<void> {
    for (const [index, chunk] of chunkIds(id, content.byteLength).entries()) {
      const bytes = content.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)
      const value = { content: Buffer.from(bytes).toString('base64') }
      await chunks.insert({ id: chunk, organizationId, value })
    }
  }

  return {
    async upload(organizationId, content, file) {
      const about = parseSubject(uploadInput, file)
      const bytes = await read(content, maxBytes)
      await organizations.existing(organizationId)
      const removeAt = clock.now() + UPLOAD_LIFETIME_MS
      const value = { ...about, size: bytes.byteLength, complete: false, removeAt }
      const head = await heads.insert({ id: ids.random('att'), organizationId, value })
      if (head === 'taken') throw new Error('The id of an upload exists.')
      try {
        await storeParts(head.id, organizationId, bytes)
        const complete = await heads.replace(head, {
          ...value,
          complete: true,
          removeAt: head.createdAt + UPLOAD_LIFETIME_MS,
        })
        if (typeof complete !== 'string') return view(complete)
        throw new NotifierError('not_found')
      } catch (error) {
        // No send can use the rest. It is removed when it falls due.
        await remove(head).catch(() => {})
        throw error
      }
    },
    async delete(organizationId, id) {
      const found = await byId(id, (known) => heads.find({ id: known }))
      const absent = (): NotifierError => unknown(id)
      const upload = owned(found, organizationId, absent)
      if (upload.value.deleted || !(await remove(upload))) throw absent()
    },
  }
}

/** The content in memory. @throws NotifierError `invalid_parameter`, `payload_too_large` */
async function read(content: unknown, most: number): Promise<Uint8Array> {
  const bytes = await contentOf(content, most)
  if (bytes.byteLength > most) throw tooLarge(most)
  if (bytes.byteLength === 0) throw wrong('content', 'a file of at least one byte')
  return bytes
}

async function contentOf(content: unknown, most: number): Promise<Uint8Array> {
  const given = bytesOf(content)
  // A copy: the caller may change the bytes meanwhile.
  if (given !== null) return given.byteLength > most ? given : Uint8Array.from(given)
  if (typeof content === 'string') {
    if ((content.length / 4) * 3 - 2 > most) throw tooLarge(most)
    if (isBase64(content)) return Buffer.from(content, 'base64')
  }
  if (!isStream(content)) throw wrong('content', 'bytes, padded base64 without line breaks, or a stream')
  try {
    return await collect(content, most, () => tooLarge(most))
  } catch (cause) {
    if (isNotifierError(cause)) throw cause
    const message = `"content" ${unreadable(cause)}.`
    throw new NotifierError('invalid_parameter', { message, details: { field: 'content' }, cause })
  }
}

function unknown(id: string): NotifierError {
  return new NotifierError('not_found', {
    message: `There is no upload "${shortName(id)}": it has ended or been deleted. Check the id.`,
    details: { field: 'id' },
  })
}

function tooLarge(limit: number): NotifierError {
  return new NotifierError('payload_too_large', {
    message: `The file is larger than ${limit} bytes (option "attachments.maxBytes"). Upload a smaller one.`,
    details: { field: 'content', limit },
  })
}

function view({ id, createdAt, value }: StoredRecord<UploadValue>): UploadRecord {
  const { filename, contentType, size } = value
  return {
    id,
    filename,
    contentType,
    size,
    expiresAt: new Date(createdAt + UPLOAD_LIFETIME_MS).toISOString(),
  }
}
