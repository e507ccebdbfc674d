import type { EventType, Fact } from './facts.ts'
import type { NotificationFailure, NotificationStatus } from './notification.ts'
import { failureOf, type RecordedEvent } from './record-facts.ts'

/** What every event about a notification says. */
export interface NotificationEventData {
  /** The notification's id. */
  readonly id: string
  readonly channel: string
  readonly to: string
  /** Status at the time of the event. */
  readonly status: NotificationStatus
  /** ISO 8601 UTC: when the event was recorded. */
  readonly timestamp: string
  /** Rises with every event of one notification: orders events that arrive out of order. */
  readonly sequence: number
  readonly organizationId: string
}

/** Announces why a notification failed. */
export interface NotificationFailedEvent {
  readonly event: 'notification.failed'
  readonly data: NotificationEventData & {
    readonly error: NotificationFailure & {
      /** With `device_unregistered`, where the provider says it; ISO 8601 UTC: since when the token has been dead. */
      readonly since?: string
    }
  }
}

/** The body of a webhook event. */
export type NotificationEvent =
  | NotificationFailedEvent
  | {
      readonly event: Exclude<EventType, 'notification.failed'>
      readonly data: NotificationEventData & { readonly error?: never }
    }

/** The public form of an announced event. */
export function eventPayload(
  notification: {
    readonly id: string
    readonly organizationId: string
    readonly channel: string
    readonly to: string
  },
  event: RecordedEvent & { readonly eventType: EventType },
  at: number,
): NotificationEvent {
  const { fact, status, sequence, eventType } = event
  const data: NotificationEventData = {
    id: notification.id,
    channel: notification.channel,
    to: notification.to,
    status,
    timestamp: textOf(at),
    sequence,
    organizationId: notification.organizationId,
  }
  return eventType === 'notification.failed'
    ? { event: eventType, data: { ...data, error: { ...failureOf(fact), ...sinceWhen(fact) } } }
    : { event: eventType, data }
}

/** All events of a commit have its time. */
let latest = { at: Number.NaN, text: '' }

function textOf(at: number): string {
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() }
  return latest.text
}

function sinceWhen({ code, occurredAt }: Fact): { readonly since?: string } {
  return code === 'device_unregistered' && occurredAt !== undefined
    ? { since: new Date(occurredAt).toISOString() }
    : {}
}

/**
 * The stable `webhook-id` of an announced event, constant over all its deliveries (Standard Webhooks 1.0.0).
 * Derived, so that it needs no coordination: a notification has one event per sequence number.
 */
export function eventId(notificationId: string, sequence: number): string {
  return `evt_${notificationId.slice('notif_'.length)}_${sequence}`
}
