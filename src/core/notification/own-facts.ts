import { coalesce } from '../loop/coalesce.ts'
import type { ReceiptAnswer, ReceiptRecord } from '../ports/storage/receipts.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { NotificationEvent } from './event-payload.ts'
import type { Fact } from './facts.ts'

/** Appends a fact that people cause by a link. Once for each key and notification. @throws the error of the storage */
export type RecordFact = (notificationId: string, key: string, fact: Fact) => Promise<void>

export interface OwnFactServices {
  readonly storage: Pick<Storage, 'recordReceipts'>
  emit(event: NotificationEvent): void
  /** Called when stored work may be due. */
  wake(): void
}

export function createRecordFact({ storage, emit, wake }: OwnFactServices): RecordFact {
  const record = coalesce<ReceiptRecord, ReceiptAnswer>((receipts) => storage.recordReceipts(receipts))
  return async (notificationId, key, fact) => {
    const dedupeKey = `${key}:${notificationId}`
    const answer = await record({
      provider: OURSELVES,
      organizationId: null,
      dedupeKey,
      notificationId,
      fact,
    })
    if (answer.kind === 'failed') throw answer.error
    if (answer.kind !== 'recorded' || answer.events.length === 0) return
    for (const event of answer.events) emit(event)
    wake()
  }
}

/** No provider has an empty name, so no report of a provider can have this source. */
const OURSELVES = ''
