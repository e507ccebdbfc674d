import { setImmediate as nextTurn } from 'node:timers/promises'
import { type UploadValue, uploadKind } from '../../core/accept/upload.ts'
import type { DueHandler, DueResult } from '../../core/due/due-records.ts'
import type { Records, RecordWrite, StoredRecord, WriteAnswer } from '../../core/ports/storage/records.ts'
import { chunkIds, UPLOAD_LIFETIME_MS, uploadChunkKind } from './records.ts'

/** Chunks per commit: each has 1 MiB. */
const AT_ONCE = 2
/** Until the rest of an upload falls due: longer than it takes to remove it. */
export const REST_MS = 60_000

/** Until an upload that a notification names falls due again. */
export const NAMED_MS = 3_600_000

/** Ends the id of the rest of an upload, which no accept can name. */
const REST = '/rest'

type Upload = StoredRecord<UploadValue>

/**
 * Removes an upload, then its chunks, in several commits. If the process is killed, the rest falls due.
 *
 * @param token of the claim under which it is removed
 * @returns `named`: a stored notification names it, and nothing has changed; `gone`: there is none
 */
export async function removeUpload(
  records: Records,
  { id: given, organizationId, value }: Upload,
  removeRestAt: number,
  token?: number,
): Promise<'removed' | 'named' | 'gone'> {
  const isRest = given.endsWith(REST)
  const id = isRest ? given.slice(0, -REST.length) : given
  const rest = { kind: uploadKind, id: id + REST } as const
  const begun = await write(records, [
    { kind: uploadKind, do: 'remove', id, unlessNamed: true, token: isRest ? undefined : token },
    {
      ...rest,
      do: 'insert',
      organizationId,
      value: { ...value, complete: false, removeAt: removeRestAt },
      ifTaken: 'keep',
    },
  ])
  if (begun.kind === 'named') return 'named'
  // Somebody else removes it, or the organization is being deleted with all of this.
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
 * Removes uploads that no send can name any more and no stored notification names, and the remains of unfinished ones.
 */
export function removalOfUploads(records: Records): DueHandler<UploadValue> {
  return {
    kind: uploadKind,
    async handle({ record, token }) {
      const { id, revision, createdAt, readAt, value } = record
      const again = (removeAt: number): DueResult => ({
        writes: [{ kind: uploadKind, do: 'replace', id, revision, token, value: { ...value, removeAt } }],
      })
      if (!isEnded(record)) return again(createdAt + UPLOAD_LIFETIME_MS)
      const removed = await removeUpload(records, record, readAt + REST_MS, token)
      return removed === 'named' ? again(readAt + NAMED_MS) : { writes: [] }
    },
  }
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
