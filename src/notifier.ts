import type { AnyChannel, ChannelParts } from './core/accept/input.ts'
import type { EndpointEvent, EndpointEventType } from './core/delivery/endpoint-health.ts'
import type { Engine } from './core/lifecycle/engine.ts'
import type { NotificationEvent } from './core/notification/event-payload.ts'
import type { EventType } from './core/notification/facts.ts'
import type { ProcessEvent } from './core/notification/process-event.ts'
import type { ProviderPausedEvent, ProviderResumedEvent } from './core/notification/provider-event.ts'
import type { MessageReceivedEvent } from './core/notification/received-message.ts'
import type { HealthReport } from './core/observe/health.ts'
import type { MetricsSnapshot } from './core/observe/model.ts'
import type { List, ListQuery } from './core/records/list.ts'
import type { ApiKeyInput } from './features/api-keys/input.ts'
import type {
  ApiKeyRecord,
  CreatedOperatorKey,
  KeyRotation,
  OperatorKeyRecord,
} from './features/api-keys/model.ts'
import type { AnyTemplate, DeclaredTemplates } from './features/code-templates/declared-templates.ts'
import type { OrganizationInput } from './features/organizations/input.ts'
import type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationRecord,
} from './features/organizations/model.ts'
import type { Tenant } from './tenant.ts'

/**
 * A running notification service for many organizations, without methods of its own for messages: the result of
 * `createNotifier` with `organizations: 'required'`. Every method rejects with `NotifierError`; an exception of a
 * plug-in becomes `service_unavailable` with its `cause`.
 *
 * `Tx` is the storage's type for a transaction of the caller: see {@link SendOptions.tx}. `Channels` are the parts of
 * messages by channel; by default a notifier takes messages for any channel. `Templates` are those declared in code; by
 * default a message may name any.
 */
export interface MultiTenantNotifier<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> {
  /** The access of HTTP adapters to the notifier. */
  readonly engine: Engine
  /**
   * Opens the storage, migrates its schema and starts to deliver. Idempotent.
   *
   * @throws NotifierError `service_unavailable` if the storage or the queue cannot be opened, or a plug-in times out
   *   (the storage after ten minutes, others after 30 seconds); `not_started` after {@link stop} or during one;
   *   `invalid_configuration` for wrong options
   */
  start(options?: StartOptions): Promise<void>
  /**
   * Stops accepting and claiming, waits for running attempts until the deadline, returns claimed jobs that have not
   * begun, and closes providers and storage. Idempotent. Queued notifications stay stored and are delivered after the
   * next start. Waits for a running start until the deadline; what it opens later is closed again.
   *
   * @throws NotifierError `invalid_configuration` for wrong options; nothing is stopped then
   */
  stop(options?: StopOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>

  /**
   * Calls `listener` for events of this process. An exception of the listener is reported and has no other effect.
   *
   * @throws NotifierError `invalid_parameter` for an unknown event, or a listener that is not a function
   */
  on<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
  /** Like {@link on}, for the next event only. */
  once<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this
  /** Removes a listener. @throws NotifierError as {@link on} */
  off<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): this

  /**
   * The API of one organization. Does not check that the organization exists; the methods do.
   *
   * @throws NotifierError `invalid_parameter` for an id in the wrong form
   */
  organization(id: string): Tenant<Tx, Channels, Templates>
  readonly organizations: {
    /** @throws NotifierError `already_exists`, `invalid_parameter` */
    create(organization: OrganizationInput): Promise<OrganizationRecord>
    /** @throws NotifierError `not_found` */
    get(id: string): Promise<OrganizationRecord>
    list(query?: ListQuery): Promise<List<OrganizationRecord>>
    /** @throws NotifierError `not_found`, `invalid_parameter` */
    update(id: string, change: Partial<Omit<OrganizationInput, 'id'>>): Promise<OrganizationRecord>
    /**
     * Removes an organization and its data in small steps. Its API keys stop working at once. Continues an interrupted
     * deletion.
     *
     * @throws NotifierError `organization_in_use` while messages wait, unless `force`; `not_found`, `invalid_parameter`
     */
    delete(id: string, options?: DeleteOrganizationOptions): Promise<OrganizationDeletion>
  }
  readonly apiKeys: {
    /**
     * Finds the key of a secret. Reads the storage each time, together with other lookups of the same turn.
     *
     * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, or an operator key), `expired_api_key`
     */
    verify(secret: string): Promise<ApiKeyRecord>
  }
  /**
   * Keys without an organization: over HTTP, each request with one names its organization. `/v1/organizations` requires
   * one. They can be created in code only.
   */
  readonly operatorKeys: {
    /**
     * Creates a key. The result holds the secret, which is never shown again. @throws NotifierError `invalid_parameter`
     */
    create(key: ApiKeyInput): Promise<CreatedOperatorKey>
    /** Newest first. */
    list(query?: ListQuery): Promise<List<OperatorKeyRecord>>
    /**
     * Makes a key with the name, rights and expiry of an old one, as `apiKeys.rotate` does.
     *
     * @throws NotifierError `not_found`, `invalid_parameter` (also if the key has expired),
     *   `key_already_rotated`
     */
    rotate(id: string, options?: KeyRotation): Promise<CreatedOperatorKey>
    /** The key stops working at once, on every machine. @throws NotifierError `not_found` */
    delete(id: string): Promise<void>
    /**
     * Finds the operator key of a secret, as `apiKeys.verify` does for keys of organizations.
     *
     * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, or an organization's key),
     *   `expired_api_key`
     */
    verify(secret: string): Promise<OperatorKeyRecord>
  }
  /**
   * Turns maintenance on or off. While it is on, all calls except this one and the links in mails are refused with
   * `service_unavailable`; delivery continues.
   *
   * @throws NotifierError `invalid_parameter` unless `on` is a boolean
   */
  maintenance(on: boolean): void
  /** The metrics of this process since its start, and of the storage now. Never rejects. */
  metrics(): Promise<MetricsSnapshot>
  /** The state of the notifier. Never rejects. */
  health(): Promise<HealthReport>
}

/** A running notification service; made by `createNotifier`. Its own methods act for the organization `org_default`. */
export interface Notifier<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> extends MultiTenantNotifier<Tx, Channels, Templates>,
    Tenant<Tx, Channels, Templates> {
  readonly apiKeys: Tenant['apiKeys'] & MultiTenantNotifier['apiKeys']
}

export interface StartOptions {
  /** False: accepts and answers, and leaves delivery to other processes. Default true. */
  readonly deliver?: boolean | undefined
}

export interface StopOptions {
  /**
   * Longest wait for running attempts and calls, and for a running start, in milliseconds; then attempts are aborted.
   * At least 0. Default 10 000. A second call of `stop` can shorten it.
   */
  readonly deadlineMs?: number | undefined
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
