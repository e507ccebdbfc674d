import type { NotificationEvent } from '../notification/event-payload.ts'
import type { OwnProviderEvent } from '../notification/provider-event.ts'
import type { MessageReceivedEvent } from '../notification/received-message.ts'
import type { EndpointEvent, WebhookEventType } from './endpoint-health.ts'

/** Begins the ids of listeners; those of other endpoints have no dot. */
const PREFIX = 'wh_listener.'

/** The range of the ids of listeners, which are also the lanes of their jobs. */
export const LISTENER_IDS: { readonly from: string; readonly until: string } = {
  from: PREFIX,
  until: 'wh_listener/',
}

/**
 * Whether an endpoint is a listener of the application instead of an address.
 *
 * @example
 * isListener('wh_listener.mirror') // true
 */
export function isListener(endpointId: string): boolean {
  return endpointId.startsWith(PREFIX)
}

/** The id of a listener as an endpoint. */
export function listenerId(name: string): string {
  return `${PREFIX}${name}`
}

/** An event as endpoints and listeners get it. A later version may add types: ignore unknown ones. */
export type PublishedEvent = NotificationEvent | MessageReceivedEvent | EndpointEvent | OwnProviderEvent

/** About the hand-over of an event to a listener. */
export interface HandedOver {
  /** The event's id, the same each time the event is handed over. Use it to skip repetitions. */
  readonly id: string
  /** From 1; a redelivery starts again at 1. */
  readonly attempt: number
  /** Aborts after `timeoutMs`, at the deadline of a stop, and if the job is lost to another process. */
  readonly signal: AbortSignal
}

/** The application's function for the events of a listener. */
export type EventHandler = (event: PublishedEvent, handedOver: HandedOver) => Promise<unknown> | unknown

/** A listener that this process has registered. */
export interface Listener {
  readonly name: string
  readonly handler: EventHandler
  readonly events: readonly WebhookEventType[]
  /** Events at once. */
  readonly concurrency: number
  /** Time for the handler. */
  readonly timeoutMs: number
}

/** The listeners of this process by their ids as endpoints. */
export type Listeners = ReadonlyMap<string, Listener>
