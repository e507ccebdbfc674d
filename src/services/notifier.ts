import type { EndpointEvent, EndpointEventType } from '../domain/endpoint-health.ts'
import type { NotificationEvent } from '../domain/event-payload.ts'
import type { EventType } from '../domain/facts.ts'
import type { ApiKeyInput } from '../domain/input/api-key.ts'
import type { OrganizationInput } from '../domain/input/organization.ts'
import type { RedriveInput } from '../domain/input/redrive.ts'
import type { SendInput } from '../domain/input/send.ts'
import type { SuppressionInput, SuppressionTarget } from '../domain/input/suppression.ts'
import type { TemplateChangeInput, TemplateInput } from '../domain/input/template.ts'
import type { WebhookEndpointInput, WebhookEndpointUpdate } from '../domain/input/webhook-endpoint.ts'
import type { JsonFields } from '../domain/json-fields.ts'
import type { ProcessEvent } from '../domain/process-event.ts'
import type { ProviderPausedEvent, ProviderResumedEvent } from '../domain/provider-event.ts'
import type { BatchResult, SentNotification, ValidatedSend } from './accept/records.ts'
import type {
  ApiKeyRecord,
  CreatedApiKey,
  CreatedOperatorKey,
  OperatorKeyRecord,
} from './api-keys/records.ts'
import type { DeadLetterQuery, RedriveResult } from './dead-letters/records.ts'
import type { Engine } from './engine.ts'
import type { HealthReport } from './health.ts'
import type { AccountLimits } from './limits/records.ts'
import type { List, ListQuery } from './list.ts'
import type {
  GetNotificationOptions,
  LogQuery,
  LogRecord,
  NotificationQuery,
  NotificationRecord,
  NotificationSummary,
} from './notifications/records.ts'
import type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationRecord,
} from './organizations/records.ts'
import type { RenderedRecord } from './render.ts'
import type { Scope } from './scope.ts'
import type { SuppressionQuery, SuppressionRecord } from './suppressions/records.ts'
import type { MetricsSnapshot } from './telemetry/records.ts'
import type { TemplateRecord } from './templates/records.ts'
import type {
  CreatedWebhookEndpoint,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from './webhooks/records.ts'

/**
 * A running notification service; made by `createNotifier`. Every method rejects with `NotifierError`: what a plug-in throws
 * is `service_unavailable` with its `cause`.
 *
 * `Tx` is what its storage takes as a transaction of the caller's: see {@link SendOptions.tx}.
 */
export interface Notifier<Tx = never> {
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
  on<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): Notifier<Tx>
  /** Calls it no more. @throws NotifierError as {@link on} */
  off<Name extends keyof NotifierEvents>(event: Name, listener: ListenerOf<Name>): Notifier<Tx>

  /**
   * Accepts one notification. Resolves when it is stored; delivery follows.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`,
   *   `invalid_phone`, `invalid_recipient`, `template_not_found` (422), `invalid_template_variable`,
   *   `message_too_large`, `region_not_permitted`, `blocked_recipient` and `unsubscribed` when the recipient is suppressed,
   *   `not_found` when there is no such organization, `idempotency_key_reused`, `idempotency_in_progress`,
   *   `rate_limit_exceeded`, `notification_quota_exceeded`, `service_unavailable`, `not_started`, and with `tx` also
   *   `invalid_transaction`
   */
  send(message: SendInput, options?: SendOptions<Tx>): Promise<SentNotification>
  /** Checks everything that {@link send} checks, in the same order, and renders; stores and sends nothing. */
  validate(message: SendInput, options?: SendOptions): Promise<ValidatedSend>
  /**
   * Accepts up to 10,000 notifications in one commit. Each is judged on its own: a bad one never fails the others. Where
   * their templates are, or become, too large in all, the rest of those that name one is refused (`message_too_large`).
   *
   * @throws NotifierError `invalid_parameter` when there are none or too many
   */
  sendBatch(messages: readonly SendInput[], options?: SendOptions<Tx>): Promise<BatchResult>

  readonly notifications: {
    /**
     * One notification with its timeline; with `rendered: true` also what its recipient gets.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`; with `rendered`, `sensitive_content` where the
     *   message is marked sensitive, and `template_error` where it cannot be rendered
     */
    get(id: string, options?: GetNotificationOptions): Promise<NotificationRecord>
    /** Newest first. */
    list(query?: NotificationQuery): Promise<List<NotificationSummary>>
    /**
     * Cancels while no attempt has begun.
     *
     * @throws NotifierError `not_cancellable` when it came too late, `notification_not_found`, `organization_mismatch`
     */
    cancel(id: string, scope?: Scope): Promise<NotificationRecord>
    /**
     * Sends the same message once more, whatever became of it, as a new notification: its template version and
     * variables, recipient and priority, at once. Where the first was to expire, this one does after the same time.
     * Counts like any send.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`, `content_removed` when it was sensitive and has
     *   ended, `invalid_channel` when the channel is no longer configured, and as {@link Notifier.send}
     */
    resend(id: string, options?: Omit<SendOptions<Tx>, 'strict'>): Promise<SentNotification>
    /**
     * Delivers one that failed once more, as itself: the same id, history and expiry, with all attempts before it. It does
     * not count again. What has ended otherwise is for {@link resend}.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`, `not_redrivable` when it is not failed or
     *   has expired, `content_removed` when it was sensitive, `invalid_channel` when the channel is no longer configured
     */
    redrive(id: string, scope?: Scope): Promise<NotificationRecord>
  }
  /** Notifications that failed: after their last attempt, or for a reason that no attempt would change. */
  readonly deadLetters: {
    /** Newest first. */
    list(query?: DeadLetterQuery): Promise<List<NotificationSummary>>
    /**
     * Delivers what failed once more, as `notifications.redrive` does, many at a time and in short steps. None is redriven
     * twice, whoever else redrives. What would have expired when it is due stays as it is, and so does what fails again
     * while this goes on. Suppressed recipients fail again without an attempt.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
     */
    redrive(redrive: RedriveInput, scope?: Scope): Promise<RedriveResult>
  }
  readonly templates: {
    /** @throws NotifierError `template_already_exists`, `missing_required_field`, `invalid_parameter` */
    create(template: TemplateInput, scope?: Scope): Promise<TemplateRecord>
    /** By id or name. @throws NotifierError `template_not_found` (404), `organization_mismatch` */
    get(idOrName: string, scope?: Scope): Promise<TemplateRecord>
    /** Newest first. A page of large ones ends before its `limit`, when it has 2 MiB of text: `hasMore` is true then. */
    list(query?: ListQuery): Promise<List<TemplateRecord>>
    /**
     * Changes what is given; a change of subject, body or format makes a new version. Queued notifications keep theirs.
     *
     * @throws NotifierError as `get` and `create`
     */
    update(idOrName: string, change: TemplateChangeInput, scope?: Scope): Promise<TemplateRecord>
    /**
     * Renders a template with example values, as a send would.
     *
     * @throws NotifierError as `get`, `invalid_template_variable`, `message_too_large`
     */
    preview(idOrName: string, variables?: JsonFields, scope?: Scope): Promise<RenderedRecord>
    /** Queued notifications keep the version they were accepted with. @throws NotifierError as `get` */
    delete(idOrName: string, scope?: Scope): Promise<void>
  }
  readonly organizations: {
    /** @throws NotifierError `already_exists`, `invalid_parameter` */
    create(organization: OrganizationInput): Promise<OrganizationRecord>
    /** @throws NotifierError `not_found` */
    get(id: string): Promise<OrganizationRecord>
    list(query?: Omit<ListQuery, 'organizationId'>): Promise<List<OrganizationRecord>>
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
    /** The answer holds the secret, which is never shown again. @throws NotifierError `not_found`, `invalid_parameter` */
    create(key: ApiKeyInput, scope?: Scope): Promise<CreatedApiKey>
    list(query?: ListQuery): Promise<List<ApiKeyRecord>>
    /** The key stops working at once, on every machine. @throws NotifierError `not_found`, `organization_mismatch` */
    delete(id: string, scope?: Scope): Promise<void>
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
    list(query?: Omit<ListQuery, 'organizationId'>): Promise<List<OperatorKeyRecord>>
    /** The key stops working at once, on every machine. @throws NotifierError `not_found` */
    delete(id: string): Promise<void>
    /**
     * Finds which operator key a secret is, as `apiKeys.verify` does for the keys of organizations.
     *
     * @throws NotifierError `invalid_api_key` (malformed, unknown, deleted, an organization's: all alike), `expired_api_key`
     */
    verify(secret: string): Promise<OperatorKeyRecord>
  }
  readonly webhooks: {
    /**
     * The answer holds the signing secret, which is never shown again. An organization has at most 50 endpoints.
     *
     * @throws NotifierError `invalid_parameter`, `blocked_address`, `endpoint_limit_reached`
     */
    create(endpoint: WebhookEndpointInput, scope?: Scope): Promise<CreatedWebhookEndpoint>
    /** @throws NotifierError `not_found`, `organization_mismatch` */
    get(id: string, scope?: Scope): Promise<WebhookEndpointRecord>
    list(query?: ListQuery): Promise<List<WebhookEndpointRecord>>
    /**
     * Changes what is given. Enabling replays nothing by itself.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `blocked_address`
     */
    update(id: string, change: WebhookEndpointUpdate, scope?: Scope): Promise<WebhookEndpointRecord>
    /**
     * Makes a new signing secret, which the answer holds and which is never shown again. Those before sign beside it for
     * `overlapMs` (default: a day; 0 ends them at once); at most five sign.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`
     */
    rotateSecret(
      id: string,
      options?: Scope & { readonly overlapMs?: number | undefined },
    ): Promise<CreatedWebhookEndpoint>
    /**
     * Posts an example event of the type `webhook.test` at once, to a disabled endpoint too, and says how that ended.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`
     */
    test(id: string, scope?: Scope): Promise<WebhookPostRecord>
    /** The delivery log of an endpoint, newest first. @throws NotifierError `not_found`, `organization_mismatch` */
    deliveries(id: string, query?: WebhookDeliveryQuery): Promise<List<WebhookDeliveryRecord>>
    /**
     * Makes what was held, or failed, of the events since a time due again, under the same `webhook-id`s.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `endpoint_disabled`
     */
    replay(
      id: string,
      which: { readonly since: string | Date },
      scope?: Scope,
    ): Promise<{ readonly replayed: number }>
    /**
     * Makes one delivery due at once, whatever became of it: one that waits for its next attempt, failed, was held, or
     * arrived. Its `webhook-id` stays. Answers the delivery as it is then; one that is under way is left alone.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `endpoint_disabled`
     */
    retry(id: string, eventId: string, scope?: Scope): Promise<WebhookDeliveryRecord>
    /** Pending deliveries to it are dropped. @throws NotifierError `not_found`, `organization_mismatch` */
    delete(id: string, scope?: Scope): Promise<void>
  }
  /** Recipients that nothing is sent to: sends to them are refused, and what was accepted before ends as failed. */
  readonly suppressions: {
    /**
     * Sends nothing more to a recipient on a channel. One that is suppressed already stays so for its first reason, which
     * the answer tells.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`,
     *   `invalid_phone`, `invalid_recipient`
     */
    add(suppression: SuppressionInput, scope?: Scope): Promise<SuppressionRecord>
    /** Newest first. */
    list(query?: SuppressionQuery): Promise<List<SuppressionRecord>>
    /** Sends to it again. @throws NotifierError `not_found` */
    remove(recipient: SuppressionTarget, scope?: Scope): Promise<void>
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
  readonly limits: {
    /** The plan of an organization and how much of it is used. @throws NotifierError `not_found` */
    get(scope?: Scope): Promise<AccountLimits>
  }
  readonly logs: {
    /** The delivery log, newest first. */
    list(query?: LogQuery): Promise<List<LogRecord>>
  }
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
  /** A provider rests after a fault that this process met. */
  'provider.paused': (event: ProviderPausedEvent) => void
  /** After a rest a provider has taken a message of this process. */
  'provider.resumed': (event: ProviderResumedEvent) => void
}

/** Of one of several names it hears the events of all: one listener serves a loop over names. */
export type ListenerOf<Name extends keyof NotifierEvents> = (
  event: Parameters<NotifierEvents[Name]>[0],
) => void

export interface SendOptions<Tx = never> extends Scope {
  /** 1 to 255 visible ASCII characters; the same request with the same key is accepted once. Kept for 24 hours. */
  readonly idempotencyKey?: string | undefined
  /**
   * False: ignores unknown fields of a message, except those that belong elsewhere, such as `idempotencyKey`. Default true:
   * they are refused (`invalid_parameter`).
   */
  readonly strict?: boolean | undefined
  /**
   * Accepts inside a transaction of the caller's: what it commits is sent, and what it rolls back was never sent. What it
   * is depends on the storage: for PostgreSQL an open transaction of `pg`, Kysely, Drizzle or Knex; for SQLite a function
   * that is called with the database inside the transaction. Memory has none. See docs/scaling.md.
   */
  readonly tx?: Tx | undefined
}
