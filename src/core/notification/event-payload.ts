import type { EventType, Fact } from './facts.ts'
import { type Labels, type NonNullLabels, presentLabels } from './labels.ts'
import type { NotificationFailure, NotificationStatus } from './notification.ts'
import { failureOf, type RecordedEvent } from './record-facts.ts'

/** The data of every event about a notification. Labels that it does not have are absent. */
export interface NotificationEventData extends Partial<NonNullLabels> {
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

/** A notification was not sent, because a preference or a missing address forbids it. */
export interface NotificationSkippedEvent {
  readonly event: 'notification.skipped'
  readonly data: NotificationEventData & {
    readonly error: Pick<NotificationFailure, 'code' | 'message'>
    /** The preference that decided. Absent: none did. */
    readonly decidedBy?: string
  }
}

/** A notification was cancelled. */
export interface NotificationCancelledEvent {
  readonly event: 'notification.cancelled'
  readonly data: NotificationEventData & {
    /** `delivery_unknown`: an earlier attempt may have reached the recipient. Absent: none has. */
    readonly error?: Pick<NotificationFailure, 'code' | 'message'>
  }
}

/** The body of a webhook event. */
export type NotificationEvent =
  | NotificationFailedEvent
  | NotificationSkippedEvent
  | NotificationCancelledEvent
  | {
      readonly event: Exclude<
        EventType,
        'notification.failed' | 'notification.skipped' | 'notification.cancelled'
      >
      readonly data: NotificationEventData & { readonly error?: never }
    }

/**
 * The public form of a published event.
 *
 * @param at time of recording in epoch milliseconds
 *
 * @example
 * for (const event of recordFacts(state, facts, 'engine', notification.to).events) {
 *   const { eventType } = event
 *   if (eventType !== null) publish(eventPayload(notification, { ...event, eventType }, now))
 * }
 */
export function eventPayload(
  notification: Labels & {
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
    ...presentLabels(notification),
  }
  switch (eventType) {
    case 'notification.failed':
      return { event: eventType, data: { ...data, error: { ...failureOf(fact), ...sinceWhen(fact) } } }
    case 'notification.skipped':
      return { event: eventType, data: { ...data, ...skipOf(fact) } }
    case 'notification.cancelled':
      return {
        event: eventType,
        data:
          fact.code === undefined
            ? data
            : { ...data, error: failureOf({ code: fact.code, message: fact.message }) },
      }
    default:
      return { event: eventType, data }
  }
}

function skipOf({
  code,
  message,
  decidedBy,
}: Fact): Pick<NotificationSkippedEvent['data'], 'error' | 'decidedBy'> {
  const error = failureOf({ code, message })
  return decidedBy === undefined ? { error } : { error, decidedBy }
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

/** The range of the `webhook-id`s of other events: those of events about notifications have a digit there. */
export const OTHER_EVENT_IDS = { from: 'evt_a', until: 'evt_{' } as const

/**
 * The stable `webhook-id` of an event, the same for all its deliveries (Standard Webhooks 1.0.0). Derived from the
 * sequence number, so it needs no coordination.
 *
 * @example
 * eventId('notif_1234', 2) // 'evt_1234_2'
 */
export function eventId(notificationId: string, sequence: number): string {
  return `evt_${notificationId.slice('notif_'.length)}_${sequence}`
}
