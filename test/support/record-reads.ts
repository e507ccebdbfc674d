import { onTestFinished } from 'vitest'
import type { RecordRef, StoredRecord } from '../../src/core/ports/storage/records.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import type { RecordKind } from '../../src/core/records/record-kind.ts'

type Answer<Value extends object> = (StoredRecord<Value> | null)[]

/**
 * Records each read of one kind until the test ends.
 *
 * @param around replaces the read; `inner` performs it
 * @returns the references of each read, in order
 */
export function watchReads<Value extends object>(
  { records }: Storage<never> | Storage<unknown>,
  kind: RecordKind<Value>,
  around: (inner: () => Promise<Answer<Value>>, refs: readonly RecordRef[]) => Promise<Answer<Value>> = (
    inner,
  ) => inner(),
): (readonly RecordRef[])[] {
  const reads: (readonly RecordRef[])[] = []
  const { get } = records
  const watched = (async (asked: RecordKind<Value>, refs: readonly RecordRef[]) => {
    if (asked.name !== kind.name) return get(asked, refs)
    reads.push(refs)
    return around(() => get(kind, refs), refs)
  }) as typeof get
  Object.assign(records, { get: watched })
  onTestFinished(() => {
    Object.assign(records, { get })
  })
  return reads
}
