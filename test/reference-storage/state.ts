import type { EndpointHealth, WebhookEventType } from '../../src/core/delivery/endpoint-health.ts'
import type { Labels } from '../../src/core/notification/labels.ts'
import type { NewNotification, NotificationContent } from '../../src/core/notification/notification.ts'
import type { FactState } from '../../src/core/notification/record-facts.ts'
import { storedContent } from '../../src/core/notification/stored-content.ts'
import type { IdempotencyRecord } from '../../src/core/ports/storage/accept.ts'
import type { TimelineEntry } from '../../src/core/ports/storage/notifications.ts'
import type { MessageReport } from '../../src/core/ports/storage/receipts.ts'
import type { Follow } from '../../src/core/ports/storage/storage.ts'
import type {
  LoggedAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../src/core/ports/storage/webhook-endpoints.ts'
import { createHeap, type Heap } from './heap.ts'
import type { RoundRobin } from './round-robin.ts'

/** A record with what its kind derives from the value. */
export interface StoredRow {
  readonly number: number
  readonly id: string
  readonly organizationId: string | null
  readonly createdAt: number
  key: string | null
  list: string | null
  revision: number
  version: number
  /** JSON, so that callers do not share it. */
  value: string
}

/** The records of a kind by id, oldest first. */
export type RecordTable = Map<string, StoredRow>

/** A notification with the results of its facts. `content` is JSON, so that callers do not share it. */
export interface StoredNotification
  extends Omit<NewNotification, 'content' | 'to' | 'sendAt' | keyof Labels>,
    Labels {
  to: string
  sendAt: number | null
  /** Sequence of the accepts. */
  readonly number: number
  readonly organizationId: string
  readonly createdAt: number
  content: string
  /** The attachments of the content. */
  attachments: string | null
  facts: FactState
  /** The history, starting with the accept. */
  readonly timeline: TimelineEntry[]
  /** Undefined: the delivery has ended. */
  job: Job | undefined
}

/** The delivery of one event to one endpoint. */
export interface StoredDelivery {
  readonly number: number
  readonly eventId: string
  readonly eventType: WebhookEventType
  /** The notification of the event. Null: an event about an endpoint. */
  readonly notificationId: string | null
  readonly organizationId: string
  readonly endpointId: string
  readonly payload: string
  readonly createdAt: number
  readonly trace: string | null
  /** Only `pending` deliveries have a job. */
  state: WebhookDelivery['state']
  readonly attempts: LoggedAttempt[]
}

export interface StoredEndpoint extends Omit<WebhookEndpoint, 'secrets' | 'failingSince'> {
  readonly number: number
  readonly health: EndpointHealth
  readonly secrets: readonly { readonly secret: string; readonly endsAt: number }[]
}

export interface Job {
  readonly number: number
  readonly lane: string
  readonly organizationId: string
  readonly high: boolean
  readonly subject:
    | { readonly kind: 'notification'; readonly notification: StoredNotification }
    | { readonly kind: 'event'; readonly delivery: StoredDelivery }
  /** `done` jobs may remain in a queue, and nowhere else. */
  state: 'ready' | 'waiting' | 'leased' | 'recovered' | 'done'
  dueAt: number
  attempts: number
  /** Attempts that met a fault of the provider. */
  outages: number
  /** Attempts before the last retry, part of `attempts`. */
  readonly earlierAttempts: number
  /** Token of the newest lease. */
  token: number
  leaseUntil: number
  /** Provider of the attempt started under this lease. */
  started: string | undefined
  /** An attempt ended with its process: the job runs alone until it settles. */
  recovered: boolean
}

/** The ready jobs of a lane. */
export interface Lane {
  readonly high: RoundRobin<Job>
  readonly normal: RoundRobin<Job>
  /** See `shareSlots`. */
  turn: number
}

/** The data of a reference storage. */
export interface MemoryState {
  readonly now: () => number
  follow: Follow
  /** Called for every job that becomes due, now or later. */
  enqueue?: (job: Job) => void
  /** Time of the newest claim. */
  claimedAt: number
  /** The last number of a listed row. */
  number: number
  /** The last fencing token. */
  token: number

  /** By the name of the kind. */
  readonly records: Map<string, RecordTable>
  readonly notifications: Map<string, StoredNotification>
  /** Per organization, oldest first. */
  readonly notificationsOf: Map<string, Set<StoredNotification>>
  /** The log per organization, oldest first. */
  readonly logOf: Map<string, Map<TimelineEntry, LogRow>>
  readonly idempotency: Map<string, IdempotencyRecord & { readonly expiresAt: number }>
  /** Number of accepted notifications by organization and period. */
  readonly usage: Map<string, number>

  readonly jobs: Map<number, Job>
  readonly lanes: Map<string, Lane>
  readonly waiting: Heap<Job>
  readonly leased: Heap<Job>
  /** By lane, oldest first. */
  readonly recovered: Map<string, Heap<Job>>

  readonly deliveries: Map<number, StoredDelivery>
  /** By organization and notification; those about endpoints by organization. Oldest first. */
  readonly deliveriesOf: Map<string, Set<StoredDelivery>>
  /** Notifications by provider and the provider's message id. */
  readonly handovers: Map<string, StoredNotification[]>
  /** Time of receipt by key, oldest first. */
  readonly receipts: Map<string, number>
  /** By provider and the provider's message id. */
  readonly unmatched: Map<string, UnmatchedReceipt[]>

  readonly endpoints: Map<string, StoredEndpoint>
}

export interface LogRow {
  readonly number: number
  readonly notification: StoredNotification
  readonly entry: TimelineEntry
}

export interface UnmatchedReceipt {
  readonly record: MessageReport
  readonly receivedAt: number
}

export function createState(now: () => number): MemoryState {
  return {
    now,
    follow: () => [],
    claimedAt: 0,
    number: 0,
    token: 0,
    records: new Map(),
    notifications: new Map(),
    notificationsOf: new Map(),
    logOf: new Map(),
    idempotency: new Map(),
    usage: new Map(),
    jobs: new Map(),
    lanes: new Map(),
    waiting: createHeap(),
    leased: createHeap(),
    recovered: new Map(),
    deliveries: new Map(),
    deliveriesOf: new Map(),
    handovers: new Map(),
    receipts: new Map(),
    unmatched: new Map(),
    endpoints: new Map(),
  }
}

/** Replaces the content of a notification if one is given. */
export function setContent(notification: StoredNotification, content: NotificationContent | undefined): void {
  if (content !== undefined) Object.assign(notification, storedContent(content), { uploads: undefined })
}

export function nextNumber(state: MemoryState): number {
  state.number += 1
  return state.number
}

/** Joins the parts of a key; no part contains a line break. */
export function keyOf(...parts: readonly (string | null | undefined)[]): string {
  return parts.map((part) => part ?? '').join('\n')
}

export function addTo<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}

/** Removes a value, and the set if it is empty. */
export function removeFrom<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}

export function appendTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
