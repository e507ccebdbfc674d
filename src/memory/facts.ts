import { eventId, eventPayload, type NotificationEvent } from '../domain/event-payload.ts'
import type { Fact } from '../domain/facts.ts'
import { recordFacts } from '../domain/record-facts.ts'
import { suppressedAddress } from '../domain/suppression.ts'
import { createJob } from './jobs.ts'
import {
  appendTo,
  keyOf,
  type MemoryState,
  nextNumber,
  type StoredDelivery,
  type StoredNotification,
} from './state.ts'
import { addSuppression } from './suppressions.ts'

/**
 * Adds facts to a notification: status, history, and a delivery for every endpoint that wants an announced event.
 *
 * @returns what was announced, in order
 */
export function addFacts(
  state: MemoryState,
  notification: StoredNotification,
  facts: readonly Fact[],
  origin: 'engine' | 'receipt',
): NotificationEvent[] {
  const at = state.now()
  const recorded = recordFacts(notification.facts, facts, origin)
  notification.facts = recorded.state
  const announced: NotificationEvent[] = []
  for (const { fact, sequence, status, announce } of recorded.events) {
    const entry = { sequence, type: fact.type, status, at, fact }
    notification.timeline.push(entry)
    appendTo(state.logOf, notification.organizationId, { notification, entry })
    if (fact.suppress !== undefined) {
      const { organizationId, channel, to } = notification
      const address = suppressedAddress(channel, to)
      addSuppression(state, {
        organizationId,
        channel,
        address,
        reason: fact.suppress,
        source: fact.provider ?? null,
      })
    }
    if (fact.type === 'sent' && fact.providerMessageId !== undefined) {
      appendTo(state.handovers, keyOf(fact.provider, fact.providerMessageId), notification)
    }
    if (announce === null) continue
    const event = eventPayload(notification, { fact, sequence, status, announce }, at)
    announced.push(event)
    announceTo(state, event, notification.trace ?? null)
  }
  return announced
}

/** Stores a delivery for each endpoint of the organization that chose the event. */
function announceTo(state: MemoryState, event: NotificationEvent, trace: string | null): void {
  const { organizationId, id, sequence } = event.data
  for (const endpoint of state.endpoints.values()) {
    if (endpoint.organizationId !== organizationId || !endpoint.events.includes(event.event)) continue
    const delivery: StoredDelivery = {
      number: nextNumber(state),
      eventId: eventId(id, sequence),
      eventType: event.event,
      organizationId,
      endpointId: endpoint.id,
      payload: JSON.stringify(event),
      createdAt: state.now(),
      trace,
      state: endpoint.status === 'active' ? 'pending' : 'held',
      attempts: [],
    }
    state.deliveries.set(delivery.number, delivery)
    if (delivery.state === 'held') continue
    createJob(state, {
      lane: endpoint.id,
      organizationId,
      high: false,
      subject: { kind: 'event', delivery },
      dueAt: state.now(),
    })
  }
}
