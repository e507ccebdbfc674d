import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { Fact } from '../../domain/facts.ts'
import { suppressedAddress } from '../../domain/suppression.ts'
import type { ReceiptAnswer, ReceiptRecord } from '../../ports/storage/receipts.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { createGroup } from '../group.ts'
import type { Notifier } from '../notifier.ts'
import type { LinkSigner } from './link-signer.ts'

export interface PageParts {
  readonly storage: Storage
  signer(): LinkSigner
  announce(event: NotificationEvent): void
  /** Something was stored that may be due. */
  wake(): void
}

/** What the links in messages lead to. */
export function createPages(parts: PageParts): Notifier['pages'] {
  const { storage, signer, announce, wake } = parts
  const record = createGroup<ReceiptRecord, ReceiptAnswer>((receipts) => storage.recordReceipts(receipts))

  async function store(notificationId: string, key: string, fact: Fact): Promise<ReceiptAnswer['kind']> {
    const dedupeKey = `${key}:${notificationId}`
    const answer = await record({
      provider: OURSELVES,
      organizationId: null,
      dedupeKey,
      notificationId,
      fact,
    })
    if (answer.kind !== 'recorded' || answer.events.length === 0) return answer.kind
    for (const event of answer.events) announce(event)
    wake()
    return answer.kind
  }

  return {
    async canUnsubscribe(token) {
      return signer().verify('unsubscribe', token) !== null
    },
    async unsubscribe(token) {
      const id = signer().verify('unsubscribe', token)
      const notification = id === null ? null : await storage.notifications.get(id)
      // Where it was removed with time, nobody knows any more who it went to.
      if (notification === null) return false
      const { organizationId, channel, to } = notification
      const fact = { type: 'unsubscribed', suppress: 'unsubscribe' } as const
      if ((await store(notification.id, 'unsubscribe', fact)) === 'recorded') return true
      // The same link once more, perhaps after the suppression was lifted: the recipient wants what it says now.
      const address = suppressedAddress(channel, to)
      await storage.suppressions.add({
        organizationId,
        channel,
        address,
        reason: 'unsubscribe',
        source: null,
      })
      return true
    },
  }
}

/** No provider has an empty name, so that no report of one can be taken for ours. */
const OURSELVES = ''
