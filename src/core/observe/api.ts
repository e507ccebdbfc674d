import type { EndpointEvent, EndpointEventType } from '../delivery/endpoint-health.ts'
import type { NotificationEvent } from '../notification/event-payload.ts'
import type { EventType } from '../notification/facts.ts'
import type { ProcessEvent } from '../notification/process-event.ts'
import type { ProviderPausedEvent, ProviderResumedEvent } from '../notification/provider-event.ts'
import type { MessageReceivedEvent } from '../notification/received-message.ts'
import type { HealthReport } from './health.ts'
import type { MetricsSnapshot } from './model.ts'

/** Listeners of a notifier. */
export interface Listening {
  /**
   * Calls `listener` for events of this process. An exception of the listener is reported and has no other effect.
   *
   * @throws NotifierError `invalid_parameter` for an unknown event, or a listener that is not a function
   *
   * @example
   * notifier.on('error', (error) => console.error(error))
   * notifier.on('notification.failed', ({ data }) => console.log(data.id, data.to))
   */
  on<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
  /**
   * Like {@link on}, for the next event only.
   *
   * @example
   * notifier.once('notification.delivered', ({ data }) => console.log(data.id))
   */
  once<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
  /**
   * Removes a listener.
   *
   * @throws NotifierError as {@link on}
   *
   * @example
   * const report = (error: Error) => console.error(error)
   * notifier.on('error', report)
   * notifier.off('error', report)
   */
  off<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
}

/** The state of a notifier. */
export interface Observed {
  /**
   * The metrics of this process since its start, and of the storage now. Never rejects.
   *
   * @example
   * const { backlog, counters } = await notifier.metrics()
   */
  metrics(): Promise<MetricsSnapshot>
  /**
   * The state of the notifier. Never rejects.
   *
   * @example
   * const { status, reason } = await notifier.health()
   * if (status !== 'ok') console.warn(reason)
   */
  health(): Promise<HealthReport>
}

/**
 * Events of a notifier: the webhook events by name, the events of this process's own work, and `error` for background
 * errors.
 */
export type NotifierEvents = {
  [Name in EventType]: (event: NotificationEvent & { readonly event: Name }) => void
} & {
  [Name in EndpointEventType]: (event: EndpointEvent) => void
} & {
  [Event in ProcessEvent as Event['event']]: (event: Event) => void
} & {
  /** Someone wrote to a number or account of the application. */
  'message.received': (event: MessageReceivedEvent) => void
  /** A background error; delivery continues. */
  error: (error: Error) => void
  /** A provider is paused after a fault in this process. */
  'provider.paused': (event: ProviderPausedEvent) => void
  /** A provider has accepted a message of this process after a pause. */
  'provider.resumed': (event: ProviderResumedEvent) => void
}

/** For a union of names, the union of their events: one listener can serve a loop over names. */
export type ListenerOf<Name extends keyof NotifierEvents> = (
  event: Parameters<NotifierEvents[Name]>[0],
) => void
