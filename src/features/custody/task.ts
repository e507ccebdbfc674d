import type { Records, StoredRecord } from '../../core/ports/storage/records.ts'
import { type Counted, sum } from './counts.ts'
import { type ErasureValue, erasureKind } from './records.ts'

export type Erasure = StoredRecord<ErasureValue>

/** Until another process goes on with an erasure, after one that has ended. */
const HOLD_MS = 60_000

/** Another process goes on with the erasure, or its organization is being deleted. */
export class Overtaken extends Error {}

/** An erasure while this process goes on with it. */
export interface Task {
  readonly record: Erasure
  /** Counts what is done. It is stored with the next save. */
  count(counted: Counted): void
  /**
   * Stores progress, and holds the erasure for a while.
   *
   * @throws Overtaken
   */
  save(change?: Partial<ErasureValue>): Promise<void>
}

/** @param token of the claim under which it fell due */
export function taskOf(records: Pick<Records, 'write'>, begun: Erasure, token?: number): Task {
  let record = begun
  let claim = token
  let { counts } = begun.value
  return {
    get record() {
      return record
    },
    count(counted) {
      counts = sum(counts, counted)
    },
    async save(change = {}) {
      const { id, revision, readAt } = record
      const value = { ...record.value, dueAt: readAt + HOLD_MS, ...change, counts }
      const [answer] = await records.write([
        [{ kind: erasureKind, do: 'replace', id, revision, token: claim, value }],
      ])
      if (answer?.kind === 'failed') throw answer.error
      if (answer?.kind !== 'written') throw new Overtaken()
      record = answer.records[0] as Erasure
      claim = undefined
    },
  }
}
