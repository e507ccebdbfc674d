import type { EndpointEvent, EndpointEventType } from '../domain/endpoint-health.ts'
import type { NotificationEvent } from '../domain/event-payload.ts'
import type { EventType } from '../domain/facts.ts'
import type { ApiKeyInput } from '../domain/input/api-key.ts'
import type { OrganizationInput } from '../domain/input/organization.ts'
import type { AnyChannel, ChannelParts } from '../domain/input/send.ts'
import type { ProcessEvent } from '../domain/process-event.ts'
import type { ProviderPausedEvent, ProviderResumedEvent } from '../domain/provider-event.ts'
import type { ApiKeyRecord, CreatedOperatorKey, OperatorKeyRecord } from './api-keys/records.ts'
import type { Engine } from './engine.ts'
import type { HealthReport } from './health.ts'
import type { List, ListQuery } from './list.ts'
import type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationRecord,
} from './organizations/records.ts'
import type { MetricsSnapshot } from './telemetry/records.ts'
import type { Tenant } from './tenant.ts'

/**
 * A running notification service for many organizations, whose own API is left out: the notifier that `createNotifier` makes
 * with `organizations: 'required'`. Every method rejects with `NotifierError`: a throwing plug-in is `service_unavailable`
 * with its `cause`.
 *
 * `Tx` is what its storage takes as a transaction of the caller's: see {@link SendOptions.tx}. `Channels` says what
 * messages may carry on each of its channels; left out, a notifier takes messages for any channel.
 */
export interface MultiTenantNotifier<Tx = never, Channels extends ChannelParts = AnyChannel> {
  /** By it HTTP adapters reach the notifier. */
  readonly engine: Engine
  /**
   * Opens the storage, brings its schema up to date and begins to deliver. Idempotent.
   *
   * @throws NotifierError `service_unavailable` when the storage or the queue cannot be opened, or a plug-in does not open
   *   in time (the storage within ten minutes, any other within 30 seconds); `not_started` after
   *   {@link stop} or when it is stopped before it has started, `invalid_configuration` for wrong options
   */
  start(options?: StartOptions): Promise<void>
  /**
   * Stops accepting and claiming, lets running attempts end within the deadline, returns what has not begun, closes
   * channels and storage. Idempotent. What is queued stays stored and is delivered after the next start. A start that is
   * under way is waited for until the deadline; what it opens later is closed again.
   *
   * @throws NotifierError `invalid_configuration` for wrong options; nothing is stopped then
   */
  stop(options?: StopOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>

  /**
   * Calls `listener` for events that this process records; a throwing listener is reported and harms nobody.
   *
   * @throws NotifierError `invalid_parameter` for a name that no event has, or a listener that is no function
   */
  on<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
  /** As {@link on}, for the next such event alone. */
  once<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
  /** Calls it no more. @throws NotifierError as {@link on} */
  off<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this

  /**
   * The whole API of one organization. Does not look whether it exists: its methods do.
   *
   * @throws NotifierError `invalid_parameter` for an id that no organization can have
   */
  organization(id: string): Tenant<Tx, Channels>
  readonly organizations: {
    /** @throws NotifierError `already_exists`, `invalid_parameter` */
    create(organization: OrganizationInput): Promise<OrganizationRecord>
    /** @throws NotifierError `not_found` */
    get(id: string): Promise<OrganizationRecord>
    list(query?: ListQuery): Promise<List<OrganizationRecord>>
    /** @throws NotifierError `not_found`, `invalid_parameter` */
    update(id: string, change: Partial<Omit<OrganizationInput, 'id'>>): Promise<OrganizationRecord>
    /**
     * Removes an organization and its data in small steps. Its API keys stop working at once. Resumes an interrupted deletion.
     *
     * @throws NotifierError `organization_in_use` while messages wait, unless `force`; `not_found`, `invalid_parameter`
     */
    delete(id: string, options?: DeleteOrganizationOptions): Promise<OrganizationDeletion>
  }
  readonly apiKeys: {
    /**
     * Finds whose key a secret is. Looked up in the storage each time, together with other look-ups of the same tick.
     *
     * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, an operator key: all alike), `expired_api_key`
     */
    verify(secret: string): Promise<ApiKeyRecord>
  }
  /**
   * Keys that belong to no organization and reach all of them: over HTTP each request names the one that it concerns, and
   * `/v1/organizations` needs one of them. They are created in code alone.
   */
  readonly operatorKeys: {
    /** The answer holds the secret, which is never shown again. @throws NotifierError `invalid_parameter` */
    create(key: ApiKeyInput): Promise<CreatedOperatorKey>
    /** Newest first. */
    list(query?: ListQuery): Promise<List<OperatorKeyRecord>>
    /** The key stops working at once, on every machine. @throws NotifierError `not_found` */
    delete(id: string): Promise<void>
    /**
     * Finds which operator key a secret is, as `apiKeys.verify` does for the keys of organizations.
     *
     * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, an organization's: all alike), `expired_api_key`
     */
    verify(secret: string): Promise<OperatorKeyRecord>
  }
  /**
   * Refuses every call with `service_unavailable` while it is on, but this one and the links of mails; delivery goes on.
   * What was accepted stays accepted.
   *
   * @throws NotifierError `invalid_parameter` for anything but true and false
   */
  maintenance(on: boolean): void
  /** What can be counted: in this process since it was created, and in the storage now. Never rejects. */
  metrics(): Promise<MetricsSnapshot>
  /** How the notifier is. Never rejects. */
  health(): Promise<HealthReport>
}

/** A running notification service; made by `createNotifier`. Its own API is that of the organization `org_default`. */
export interface Notifier<Tx = never, Channels extends ChannelParts = AnyChannel>
  extends MultiTenantNotifier<Tx, Channels>,
    Tenant<Tx, Channels> {
  readonly apiKeys: Tenant['apiKeys'] & MultiTenantNotifier['apiKeys']
}

export interface StartOptions {
  /** False: accept and answer, but let other processes deliver. Default true. */
  readonly deliver?: boolean | undefined
}

export interface StopOptions {
  /**
   * Longest wait for running attempts and calls, and for a start that is under way, in milliseconds, before attempts are
   * aborted. At least 0. Default 10 000. A second call of `stop` that gives one can shorten the wait of the first.
   */
  readonly deadlineMs?: number | undefined
}

/**
 * Events of a notifier: the webhook events by their names; those that only this process tells, of what it does itself; and
 * `error` for faults behind the scenes.
 */
export type NotifierEvents = {
  [Name in EventType]: (event: NotificationEvent & { readonly event: Name }) => void
} & {
  [Name in EndpointEventType]: (event: EndpointEvent) => void
} & {
  [Event in ProcessEvent as Event['event']]: (event: Event) => void
} & {
  /** Something failed that no caller is waiting for; delivery goes on. */
  error: (error: Error) => void
  /** A provider is paused after a fault that this process met. */
  'provider.paused': (event: ProviderPausedEvent) => void
  /** After a pause a provider has taken a message of this process. */
  'provider.resumed': (event: ProviderResumedEvent) => void
}

/** Of one of several names it hears the events of all: one listener serves a loop over names. */
export type ListenerOf<Name extends keyof NotifierEvents> = (
  event: Parameters<NotifierEvents[Name]>[0],
) => void
