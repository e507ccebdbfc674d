import { requestOf } from '../../core/delivery/post-event.ts'
import type { WebhookDelivery } from '../../core/ports/storage/webhook-endpoints.ts'
import type { WebhookDeliveryRecord } from './model.ts'

/** A delivery as the delivery log shows it. */
export function deliveryView(delivery: WebhookDelivery): WebhookDeliveryRecord {
  const { eventId, eventType, state, payload, createdAt, attempts } = delivery
  return {
    eventId,
    event: eventType,
    status: state,
    payload,
    createdAt: new Date(createdAt).toISOString(),
    attempts: attempts.map(({ at, request, ...attempt }) => ({
      ...attempt,
      timestamp: new Date(at).toISOString(),
      request: requestOf(eventId, request),
    })),
  }
}
