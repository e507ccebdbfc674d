import type { NotificationEvent } from '../../src/core/notification/event-payload.ts'
import type { Fact } from '../../src/core/notification/facts.ts'
import { receivedEvent, receivedEventId } from '../../src/core/notification/received-message.ts'
import type { MessageReport, ReceiptAnswer, ReceiptRecord } from '../../src/core/ports/storage/receipts.ts'
import { addFacts, publishOther } from './facts.ts'
import { dataError, followWrites } from './records.ts'
import { appendTo, keyOf, type MemoryState, type StoredNotification } from './state.ts'

/** Records a report unless it is a repetition. */
export function recordReceipt(state: MemoryState, receipt: ReceiptRecord): ReceiptAnswer {
  const known = dedupeKey(receipt)
  if (state.receipts.has(known)) return { kind: 'duplicate' }
  try {
    const answer = apply(state, receipt)
    state.receipts.set(known, state.now())
    return answer
  } catch (error) {
    return { kind: 'failed', error: dataError(error) }
  }
}

function apply(state: MemoryState, receipt: ReceiptRecord): ReceiptAnswer {
  if ('consent' in receipt) {
    followWrites(state, receipt.consent)
    if (receipt.received === undefined) return { kind: 'heeded' }
    const received = receivedEvent(receipt.received, state.now())
    publishOther(state, received, receivedEventId(received))
    return { kind: 'heeded', received }
  }
  const notification = correlate(state, receipt)
  if (notification === undefined) {
    const key = keyOf(receipt.provider, receipt.fact.providerMessageId)
    appendTo(state.unmatched, key, { record: receipt, receivedAt: state.now() })
    return { kind: 'unmatched' }
  }
  const events = addFacts(state, notification, [receipt.fact], 'receipt')
  return { kind: 'recorded', notificationId: notification.id, events }
}

/** Applies receipts that arrived before their hand-over. */
export function matchUnmatched(
  state: MemoryState,
  notification: StoredNotification,
  sent: Fact,
): NotificationEvent[] {
  if (sent.providerMessageId === undefined) return []
  const key = keyOf(sent.provider, sent.providerMessageId)
  const waiting = state.unmatched.get(key) ?? []
  const matching = waiting.filter(({ record }) => mayConcern(record, notification))
  if (matching.length === 0) return []
  state.unmatched.set(
    key,
    waiting.filter((entry) => !matching.includes(entry)),
  )
  const facts = matching.map(({ record }) => record.fact)
  return addFacts(state, notification, facts, 'receipt')
}

function correlate(state: MemoryState, receipt: MessageReport): StoredNotification | undefined {
  const { notificationId, provider, fact } = receipt
  const named = notificationId === undefined ? undefined : state.notifications.get(notificationId)
  if (named !== undefined && mayConcern(receipt, named)) return named
  if (fact.providerMessageId === undefined) return undefined
  const handedOver = state.handovers.get(keyOf(provider, fact.providerMessageId)) ?? []
  return handedOver
    .filter((notification) => mayConcern(receipt, notification))
    .sort((a, b) => b.number - a.number)[0]
}

/** An organization's own instance reports about its notifications only. */
function mayConcern(receipt: MessageReport, notification: StoredNotification): boolean {
  return receipt.organizationId === null || receipt.organizationId === notification.organizationId
}

/** Separates instances of different organizations with the same name. */
export function dedupeKey(receipt: ReceiptRecord): string {
  return keyOf(receipt.organizationId, receipt.provider, receipt.dedupeKey)
}
