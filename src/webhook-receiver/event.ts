import type { EndpointEvent } from '../domain/endpoint-health.ts'
import type { NotificationEvent, NotificationEventData } from '../domain/event-payload.ts'

/** What `notifier.webhooks.test(id)` posts: shaped like any event, about a notification that never was. */
export interface WebhookTestEvent {
  readonly event: 'webhook.test'
  readonly data: NotificationEventData
}

/** The body of a webhook; about endpoints only where the endpoint chose those events. A later version of the sender may add types: leave unknown ones alone. */
export type WebhookEvent = NotificationEvent | EndpointEvent | WebhookTestEvent

/** What the headers of a verified webhook say. */
export interface WebhookDelivery {
  /** `webhook-id`: the same for every delivery of one event. What was handled under it before is a repetition. */
  readonly id: string
  /** `webhook-timestamp`: when this attempt was made, to the second. */
  readonly timestamp: Date
}
