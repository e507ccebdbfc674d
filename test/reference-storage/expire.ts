import type {
  ExpireAnswer,
  ExpiredReceipt,
  ExpireRequest,
  ExpiringNotifications,
  ExpiringRest,
} from '../../src/core/ports/storage/expire.ts'
import { decodeCursor, encodeCursor } from '../../src/core/records/cursor.ts'
import { removeDelivery } from './facts.ts'
import { dedupeKey } from './receipts.ts'
import { keyOf, type MemoryState, removeFrom, type StoredNotification } from './state.ts'

export function expire(state: MemoryState, request: ExpireRequest): ExpireAnswer {
  const { what } = request
  return what.organizationId === undefined
    ? expireRest(state, what, request)
    : expireNotifications(state, what, request)
}

function expireNotifications(
  state: MemoryState,
  { organizationId, olderThanMs }: ExpiringNotifications,
  { most, after }: ExpireRequest,
): ExpireAnswer {
  const latest = state.now() - olderThanMs
  const [from = -1] = after === undefined ? [] : decodeCursor(after, 1)
  const over: StoredNotification[] = []
  let looked = 0
  let last = from
  let next: string | null = null
  for (const row of state.notificationsOf.get(organizationId) ?? []) {
    if (row.number <= from) continue
    if (row.createdAt > latest) break
    if (looked === most) {
      next = encodeCursor([last])
      break
    }
    looked += 1
    last = row.number
    if (isOver(state, row, latest)) over.push(row)
  }
  let deliveries = removeEndpointEvents(state, organizationId, latest)
  for (const row of over) deliveries += removeNotification(state, row)
  return { removed: { notifications: over.length, deliveries }, unmatched: [], next }
}

export function isOver(state: MemoryState, row: StoredNotification, latest: number): boolean {
  if (row.job !== undefined || (row.timeline.at(-1)?.at ?? 0) > latest) return false
  const deliveries = state.deliveriesOf.get(keyOf(row.organizationId, row.id)) ?? []
  return [...deliveries].every((delivery) => delivery.state !== 'pending')
}

/** @returns number of removed deliveries */
export function removeNotification(state: MemoryState, notification: StoredNotification): number {
  const { id, organizationId, timeline } = notification
  state.notifications.delete(id)
  removeFrom(state.notificationsOf, organizationId, notification)
  const log = state.logOf.get(organizationId)
  for (const entry of timeline) {
    log?.delete(entry)
    const { fact } = entry
    if (fact?.type !== 'sent' || fact.providerMessageId === undefined) continue
    const key = keyOf(fact.provider, fact.providerMessageId)
    keepOthers(state.handovers, key, (other) => other === notification)
  }
  if (log?.size === 0) state.logOf.delete(organizationId)
  const deliveries = [...(state.deliveriesOf.get(keyOf(organizationId, id)) ?? [])]
  for (const delivery of deliveries) removeDelivery(state, delivery)
  return deliveries.length
}

function removeEndpointEvents(state: MemoryState, organizationId: string, latest: number): number {
  let removed = 0
  for (const delivery of state.deliveriesOf.get(keyOf(organizationId, null)) ?? []) {
    if (delivery.createdAt > latest) break
    if (delivery.state === 'pending') continue
    removeDelivery(state, delivery)
    removed += 1
  }
  return removed
}

function expireRest(
  state: MemoryState,
  { receiptsOlderThanMs, unmatchedOlderThanMs }: ExpiringRest,
  { most }: ExpireRequest,
): ExpireAnswer {
  const now = state.now()
  const idempotency = removeOldest(state.idempotency, most, ({ expiresAt }) => expiresAt <= now)
  const unmatched = expireUnmatched(state, most, now - unmatchedOlderThanMs)
  const latest = receiptsOlderThanMs === null ? -Infinity : now - receiptsOlderThanMs
  const receipts = removeOldest(state.receipts, most, (receivedAt) => receivedAt <= latest)
  const more = [idempotency, unmatched.length, receipts].includes(most)
  return { removed: { idempotency, receipts }, unmatched, next: more ? 'more' : null }
}

/** Removes unmatched receipts with their keys, so that a repetition is no duplicate. */
function expireUnmatched(state: MemoryState, most: number, latest: number): ExpiredReceipt[] {
  const expired: ExpiredReceipt[] = []
  for (const key of state.unmatched.keys()) {
    if (expired.length === most) break
    keepOthers(state.unmatched, key, ({ record, receivedAt }) => {
      if (receivedAt > latest || expired.length === most) return false
      const { provider, organizationId, fact } = record
      expired.push({ provider, organizationId, type: fact.type, receivedAt })
      state.receipts.delete(dedupeKey(record))
      return true
    })
  }
  return expired
}

function removeOldest<Value>(
  map: Map<string, Value>,
  most: number,
  isOver: (value: Value) => boolean,
): number {
  let removed = 0
  for (const [key, value] of map) {
    if (removed === most) break
    if (isOver(value) && map.delete(key)) removed += 1
  }
  return removed
}

export function keepOthers<Value>(
  lists: Map<string, Value[]>,
  key: string,
  isRemoved: (value: Value) => boolean,
): void {
  const kept = (lists.get(key) ?? []).filter((value) => !isRemoved(value))
  if (kept.length === 0) lists.delete(key)
  else lists.set(key, kept)
}
