import type { EndpointEvent, WebhookEventType } from '../../src/core/delivery/endpoint-health.ts'
import { eventId, eventPayload, type NotificationEvent } from '../../src/core/notification/event-payload.ts'
import type { Fact } from '../../src/core/notification/facts.ts'
import type { Labels } from '../../src/core/notification/labels.ts'
import type { OwnProviderEvent } from '../../src/core/notification/provider-event.ts'
import type { MessageReceivedEvent } from '../../src/core/notification/received-message.ts'
import { recordFacts } from '../../src/core/notification/record-facts.ts'
import type { TimelineEntry } from '../../src/core/ports/storage/notifications.ts'
import { createJob } from './jobs.ts'
import { followWrites } from './records.ts'
import {
  addTo,
  appendTo,
  keyOf,
  type LogRow,
  type MemoryState,
  nextNumber,
  removeFrom,
  type StoredDelivery,
  type StoredNotification,
} from './state.ts'

/**
 * Adds facts to a notification: status, history, and a delivery of each published event to every endpoint that chose
 * it.
 *
 * @returns the published events, in order
 */
export function addFacts(
  state: MemoryState,
  notification: StoredNotification,
  facts: readonly Fact[],
  origin: 'engine' | 'receipt',
): NotificationEvent[] {
  const at = state.now()
  const recorded = recordFacts(notification.facts, facts, origin, notification.to)
  const recordedFacts = recorded.events.map(({ fact }) => fact)
  followWrites(state, state.follow(notification, recordedFacts))
  notification.facts = recorded.state
  const published: NotificationEvent[] = []
  for (const { fact, sequence, status, eventType } of recorded.events) {
    const entry = { sequence, type: fact.type, status, at, fact }
    notification.timeline.push(entry)
    logEntry(state, notification, entry)
    if (fact.type === 'sent' && fact.providerMessageId !== undefined) {
      appendTo(state.handovers, keyOf(fact.provider, fact.providerMessageId), notification)
    }
    if (eventType === null) continue
    const event = eventPayload(notification, { fact, sequence, status, eventType }, at)
    published.push(event)
    publish(state, event, notification.trace ?? null)
  }
  return published
}

/** The labels alone. */
export function labelsOf({ metadata, recipient, category, groupId }: Labels): Labels {
  return { metadata: structuredClone(metadata), recipient, category, groupId }
}

export function logEntry(state: MemoryState, notification: StoredNotification, entry: TimelineEntry): void {
  const { organizationId } = notification
  const log = state.logOf.get(organizationId) ?? new Map<TimelineEntry, LogRow>()
  state.logOf.set(organizationId, log)
  log.set(entry, { number: nextNumber(state), notification, entry })
}

/** Stores a delivery for each endpoint of the organization that chose the event. */
function publish(state: MemoryState, event: NotificationEvent, trace: string | null): void {
  const { organizationId, id, sequence } = event.data
  store(state, event.event, organizationId, {
    eventId: eventId(id, sequence),
    notificationId: id,
    payload: JSON.stringify(event),
    trace,
  })
}

/** Publishes an event about no notification to the organization's endpoints, without the one it is about. */
export function publishOther(
  state: MemoryState,
  event: EndpointEvent | MessageReceivedEvent | OwnProviderEvent,
  eventId: string,
): void {
  const { id, organizationId } = event.data
  const delivery = {
    eventId,
    notificationId: null,
    payload: JSON.stringify(event),
    trace: null,
  }
  store(state, event.event, organizationId, delivery, id)
}

function store(
  state: MemoryState,
  eventType: WebhookEventType,
  organizationId: string,
  about: Pick<StoredDelivery, 'eventId' | 'notificationId' | 'payload' | 'trace'>,
  except?: string,
): void {
  for (const endpoint of state.endpoints.values()) {
    if (endpoint.organizationId !== organizationId || endpoint.id === except) continue
    if (!endpoint.events.includes(eventType)) continue
    const delivery: StoredDelivery = {
      ...about,
      number: nextNumber(state),
      eventType,
      organizationId,
      endpointId: endpoint.id,
      createdAt: state.now(),
      state: endpoint.status === 'active' ? 'pending' : 'held',
      attempts: [],
    }
    state.deliveries.set(delivery.number, delivery)
    addTo(state.deliveriesOf, keyOf(organizationId, about.notificationId), delivery)
    if (delivery.state === 'pending') createEventJob(state, delivery)
  }
}

/** Without its job, which the caller removes. */
export function removeDelivery(state: MemoryState, delivery: StoredDelivery): void {
  const { number, organizationId, notificationId } = delivery
  state.deliveries.delete(number)
  removeFrom(state.deliveriesOf, keyOf(organizationId, notificationId), delivery)
}

/** Creates the job of a pending delivery, due now. */
export function createEventJob(state: MemoryState, delivery: StoredDelivery): void {
  const { organizationId, endpointId: lane } = delivery
  const subject = { kind: 'event', delivery } as const
  createJob(state, { lane, organizationId, high: false, subject, dueAt: state.now() })
}
