import { decodeCursor, encodeCursor } from '../domain/cursor.ts'
import type {
  ExpireAnswer,
  ExpiredReceipt,
  ExpireRequest,
  RetentionRepository,
  SweepAnswer,
  SweepRequest,
} from '../ports/storage/retention.ts'
import { dedupeKey } from './receipts.ts'
import { keyOf, type MemoryState, type StoredDelivery, type StoredNotification } from './state.ts'

export function memoryRetention(state: MemoryState): RetentionRepository {
  return {
    async sweep(request) {
      return sweep(state, request)
    },
    async expire(request) {
      return expire(state, request)
    },
  }
}

function sweep(state: MemoryState, { organizationId, olderThanMs, most, after }: SweepRequest): SweepAnswer {
  const latest = state.now() - olderThanMs
  const [from = -1] = after === undefined ? [] : decodeCursor(after, 1)
  const old = (state.notificationsOf.get(organizationId) ?? []).filter(
    (row) => row.number > from && row.createdAt <= latest,
  )
  const looked = old.slice(0, most)
  const pending = new Set<string | null>()
  for (const delivery of state.deliveries.values()) {
    if (delivery.state === 'pending') pending.add(delivery.notificationId)
  }
  const over = looked.filter(
    (row) => row.job === undefined && !pending.has(row.id) && (row.timeline.at(-1)?.at ?? 0) <= latest,
  )
  const deliveries = removeDeliveries(state, new Set(over.map(({ id }) => id)), organizationId, latest)
  removeNotifications(state, organizationId, new Set(over))
  const last = looked.at(-1)
  const next = old.length > looked.length && last !== undefined ? encodeCursor([last.number]) : null
  return { notifications: over.length, deliveries, next }
}

function removeNotifications(
  state: MemoryState,
  organizationId: string,
  over: ReadonlySet<StoredNotification>,
): void {
  if (over.size === 0) return
  keepOthers(state.notificationsOf, organizationId, (row) => over.has(row))
  keepOthers(state.logOf, organizationId, ({ notification }) => over.has(notification))
  for (const notification of over) {
    state.notifications.delete(notification.id)
    for (const { fact } of notification.timeline) {
      if (fact?.type !== 'sent' || fact.providerMessageId === undefined) continue
      const key = keyOf(fact.provider, fact.providerMessageId)
      keepOthers(state.handovers, key, (other) => other === notification)
    }
  }
}

/** Those of these notifications, and old ones about endpoints. */
function removeDeliveries(
  state: MemoryState,
  notifications: ReadonlySet<string>,
  organizationId: string,
  latest: number,
): number {
  const isOver = (one: StoredDelivery): boolean =>
    one.notificationId !== null
      ? notifications.has(one.notificationId)
      : one.organizationId === organizationId && one.state !== 'pending' && one.createdAt <= latest
  let removed = 0
  for (const [number, delivery] of state.deliveries) {
    if (isOver(delivery) && state.deliveries.delete(number)) removed += 1
  }
  return removed
}

function expire(state: MemoryState, request: ExpireRequest): ExpireAnswer {
  const { most, receiptsOlderThanMs, unmatchedOlderThanMs } = request
  const now = state.now()
  const idempotency = removeOldest(state.idempotency, most, ({ expiresAt }) => expiresAt <= now)
  const unmatched = expireUnmatched(state, most, now - unmatchedOlderThanMs)
  const latest = receiptsOlderThanMs === null ? -Infinity : now - receiptsOlderThanMs
  const receipts = removeOldest(state.receipts, most, (receivedAt) => receivedAt <= latest)
  const more = [idempotency, unmatched.length, receipts].includes(most)
  return { idempotency, receipts, unmatched, more }
}

/** Unmatched receipts with the keys that would make a repetition of them a duplicate. */
function expireUnmatched(state: MemoryState, most: number, latest: number): ExpiredReceipt[] {
  const expired: ExpiredReceipt[] = []
  for (const key of [...state.unmatched.keys()]) {
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

function keepOthers<Value>(
  lists: Map<string, Value[]>,
  key: string,
  isRemoved: (value: Value) => boolean,
): void {
  const kept = (lists.get(key) ?? []).filter((value) => !isRemoved(value))
  if (kept.length === 0) lists.delete(key)
  else lists.set(key, kept)
}
