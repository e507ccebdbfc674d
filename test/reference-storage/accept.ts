import { admittedOf, countedOf } from '../../src/core/accept/admit.ts'
import { uploadGone } from '../../src/core/accept/upload.ts'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import type { NewNotification } from '../../src/core/notification/notification.ts'
import { initialFold } from '../../src/core/notification/status.ts'
import { storedContent } from '../../src/core/notification/stored-content.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  IdempotencyKey,
  IdempotencyRecord,
} from '../../src/core/ports/storage/accept.ts'
import { logEntry } from './facts.ts'
import { createJob } from './jobs.ts'
import { hasUpload, isOpen } from './records.ts'
import { addTo, keyOf, type MemoryState, nextNumber, type StoredNotification } from './state.ts'

/** Stores one request, or returns its error. */
export function acceptRequest(state: MemoryState, request: AcceptRequest): AcceptAnswer {
  const { organizationId, notifications, idempotency, quota } = request
  const createdAt = state.now()
  const record = idempotency === undefined ? null : findIdempotent(state, { ...idempotency, organizationId })
  if (record !== null) return { kind: 'replayed', record }

  const usage = quota === undefined ? '' : keyOf(organizationId, quota.period)
  const used = state.usage.get(usage) ?? 0
  const left = quota === undefined ? notifications.length : Math.max(0, quota.limit - used)
  const admitted = notifications.slice(0, admittedOf(notifications, left))
  const problem = problemOf(state, organizationId, admitted)
  if (problem !== undefined) return { kind: 'failed', error: problem }

  for (const notification of admitted) store(state, organizationId, notification, createdAt)
  if (quota !== undefined) state.usage.set(usage, used + countedOf(admitted, admitted.length))
  const refused = admitted.length === 0 && notifications.length > 0
  if (idempotency !== undefined && !refused) {
    const { operation, key, fingerprint, result, ttlMs } = idempotency
    forgetExpired(state)
    state.idempotency.set(keyOf(organizationId, operation, key), {
      fingerprint,
      result,
      admitted: admitted.length,
      createdAt,
      expiresAt: createdAt + ttlMs,
    })
  }
  return { kind: 'accepted', admitted: admitted.length, createdAt }
}

/** The unexpired record of a key. */
export function findIdempotent(state: MemoryState, name: IdempotencyKey): IdempotencyRecord | null {
  const key = keyOf(name.organizationId, name.operation, name.key)
  const stored = state.idempotency.get(key)
  if (stored === undefined) return null
  const { expiresAt, ...record } = stored
  if (expiresAt > state.now()) return record
  state.idempotency.delete(key)
  return null
}

/** Most records have the same lifetime, so the oldest expire first. */
function forgetExpired(state: MemoryState): void {
  for (const [key, { expiresAt }] of state.idempotency) {
    if (expiresAt > state.now()) return
    state.idempotency.delete(key)
  }
}

/** Checks first, so that a request is stored completely or not at all. */
function problemOf(
  state: MemoryState,
  organizationId: string,
  notifications: readonly NewNotification[],
): NotifierError | undefined {
  if (!isOpen(state, organizationId)) {
    return new NotifierError('not_found', { message: `No organization has the id "${organizationId}".` })
  }
  const ids = new Set(notifications.map(({ id }) => id))
  if (ids.size < notifications.length || notifications.some(({ id }) => state.notifications.has(id))) {
    return new NotifierError('already_exists', { message: 'A notification with this id exists.' })
  }
  const named = notifications.flatMap(({ uploads = [] }) => uploads)
  return named.every((id) => hasUpload(state, id, organizationId)) ? undefined : uploadGone()
}

function store(
  state: MemoryState,
  organizationId: string,
  notification: NewNotification,
  createdAt: number,
): void {
  const { sendAt, metadata = null, recipient = null, category = null, groupId = null } = notification
  const status = sendAt !== null && sendAt > createdAt ? 'scheduled' : 'queued'
  const accept = { sequence: 1, type: status, status, at: createdAt, fact: null } as const
  const stored: StoredNotification = {
    ...notification,
    number: nextNumber(state),
    organizationId,
    createdAt,
    // Callers do not share it.
    metadata: structuredClone(metadata),
    recipient,
    category,
    groupId,
    ...storedContent(notification.content),
    facts: {
      status,
      fold: initialFold(status),
      sequence: 1,
      published: 0,
      provider: null,
      providerMessageId: null,
      error: null,
    },
    timeline: [accept],
    job: undefined,
  }
  state.notifications.set(stored.id, stored)
  addTo(state.notificationsOf, organizationId, stored)
  logEntry(state, stored, accept)
  stored.job = createJob(state, {
    lane: notification.lane,
    organizationId,
    high: notification.priority === 'high',
    subject: { kind: 'notification', notification: stored },
    dueAt: status === 'scheduled' && sendAt !== null ? sendAt : createdAt,
  })
}

export function quotaUsed(state: MemoryState, organizationId: string, period: string): number {
  return state.usage.get(keyOf(organizationId, period)) ?? 0
}
