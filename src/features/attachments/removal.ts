import { setImmediate as nextTurn } from 'node:timers/promises'
import { type UploadValue, uploadKind } from '../../core/accept/upload.ts'
import type { Records, RecordWrite, StoredRecord, WriteAnswer } from '../../core/ports/storage/records.ts'
import { chunkIds, UPLOAD_LIFETIME_MS, uploadChunkKind } from './records.ts'

/** Chunks per commit: each has 1 MiB. */
const AT_ONCE = 2
/** Uploads per query. */
const LISTED = 100

/** Ends the id of the rest of an upload, which no accept can name. */
const REST = '/rest'

type Upload = StoredRecord<UploadValue>

/**
 * Removes an upload, then its chunks, in several commits. {@link removeEndedUploads} continues what a killed process has begun.
 *
 * @returns `named`: a stored notification names it, and nothing has changed; `gone`: there is none
 */
export async function removeUpload(
  records: Records,
  { id: given, organizationId, value }: Upload,
): Promise<'removed' | 'named' | 'gone'> {
  const id = given.endsWith(REST) ? given.slice(0, -REST.length) : given
  const rest = { kind: uploadKind, id: id + REST } as const
  const begun = await write(records, [
    { kind: uploadKind, do: 'remove', id, unlessNamed: true },
    { ...rest, do: 'insert', organizationId, value: { ...value, complete: false }, ifTaken: 'keep' },
  ])
  if (begun.kind === 'named') return 'named'
  // The organization is being deleted, with all of this.
  if (begun.kind !== 'written') return 'gone'
  const chunks = chunkIds(id, value.size)
  for (let at = 0; at < chunks.length; at += AT_ONCE) {
    const some = chunks.slice(at, at + AT_ONCE)
    await write(
      records,
      some.map((chunk) => ({ kind: uploadChunkKind, do: 'remove', id: chunk })),
    )
    await nextTurn()
  }
  await write(records, [{ ...rest, do: 'remove' }])
  return begun.records[0] === null ? 'gone' : 'removed'
}

/**
 * Removes the uploads of an organization that no send can name any more and no stored notification names, one for each
 * step, and the remains of unfinished ones.
 */
export async function* removeEndedUploads(records: Records, organizationId: string): AsyncGenerator<void> {
  let cursor: string | undefined
  do {
    const page = await records.list(uploadKind, { organizationId }, { limit: LISTED, offset: 0, cursor })
    for (const upload of page.items) {
      if (!isEnded(upload)) continue
      await removeUpload(records, upload)
      yield
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

function isEnded({ id, createdAt, readAt, value: { deleted } }: Upload): boolean {
  return deleted === true || id.endsWith(REST) || readAt >= createdAt + UPLOAD_LIFETIME_MS
}

async function write(
  records: Records,
  set: readonly RecordWrite[],
): Promise<Exclude<WriteAnswer, { kind: 'failed' }>> {
  const [answer] = await records.write([set])
  if (answer === undefined || answer.kind === 'failed') throw answer?.error
  return answer
}
