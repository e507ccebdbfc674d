import type { EventType, Fact } from './facts.ts'
import type { NotificationFailure, NotificationStatus } from './notification.ts'
import { failureOf, type RecordedEvent } from './record-facts.ts'

/** The data of every event about a notification. */
export interface NotificationEventData {
  /** The notification's id. */
  readonly id: string
  readonly channel: string
  readonly to: string
  /** Status after the event. */
  readonly status: NotificationStatus
  /** Time of recording, ISO 8601 UTC. */
  readonly timestamp: string
  /** Rises with every event of a notification: orders events that arrive out of order. */
  readonly sequence: number
  readonly organizationId: string
}

/** A notification failed. */
export interface NotificationFailedEvent {
  readonly event: 'notification.failed'
  readonly data: NotificationEventData & {
    readonly error: NotificationFailure & {
      /** With `device_unregistered`, if the provider reports it: since when the token is invalid, ISO 8601 UTC. */
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

/** The public form of a published event. @param at time of recording in epoch milliseconds */
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

/** All events of a commit share one time. */
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
 * The stable `webhook-id` of an event, the same for all its deliveries (Standard Webhooks 1.0.0). Derived from the
 * sequence number, so it needs no coordination.
 */
export function eventId(notificationId: string, sequence: number): string {
  return `evt_${notificationId.slice('notif_'.length)}_${sequence}`
}
