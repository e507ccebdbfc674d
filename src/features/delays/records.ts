import type { PersonHashes } from '../../core/people/person-hashes.ts'
import type { PersonalRecords } from '../../core/people/personal-records.ts'
import type { DelayedOf } from '../../core/ports/storage/notifications.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'

/** Delayed messages that are to be judged again, because what the gate goes by has changed. */
export interface DelayValue {
  readonly of: DelayedOf
  /** Where the next step continues. Null: at the oldest. */
  readonly after: string | null
  /** Rounds after this one. */
  readonly more: number
  /** Epoch milliseconds. */
  readonly dueAt: number
}

/** One for each change. */
export const delayKind: RecordKind<DelayValue> = { name: 'delays', version: 1, due: ({ dueAt }) => dueAt }

export const personalDelays = (hashes: Pick<PersonHashes, 'addressName'>): PersonalRecords<DelayValue> => ({
  kind: delayKind,
  concerns: ({ of }, { recipient, address }) =>
    (of.by === 'recipient' && of.recipient === recipient) ||
    (of.by === 'address' && address !== null && of.address === hashes.addressName(address.kind, address.to)),
  // What the person waits for is cancelled.
  erased: () => null,
  exported: () => null,
})
