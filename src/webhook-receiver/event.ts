import type { WebhookMessageEvent } from '../core/channels/webhook-message.ts'
import type { EndpointEvent } from '../core/delivery/endpoint-health.ts'
import type { NotificationEvent, NotificationEventData } from '../core/notification/event-payload.ts'
import type { OwnProviderEvent } from '../core/notification/provider-event.ts'
import type { MessageReceivedEvent } from '../core/notification/received-message.ts'

/** The event of `notifier.webhooks.test(id)`: the usual form, about a made-up notification. */
export interface WebhookTestEvent {
  readonly event: 'webhook.test'
  readonly data: NotificationEventData
}

/**
 * The body of a webhook. An endpoint gets the events that it chose, and tests; the recipient of a notification on the
 * webhook channel gets `webhook.message`. A later version of the sender may add types: ignore unknown ones.
 */
export type WebhookEvent =
  | NotificationEvent
  | MessageReceivedEvent
  | EndpointEvent
  | OwnProviderEvent
  | WebhookTestEvent
  | WebhookMessageEvent

/** The headers of a verified webhook. */
export interface WebhookDelivery {
  /** `webhook-id`: the same for every delivery of an event or message. Use it to skip repetitions. */
  readonly id: string
  /** `webhook-timestamp`: time of this attempt, to the second. */
  readonly timestamp: Date
}
