import type { ApiKeyInput } from '../domain/input/api-key.ts'
import { isOrganizationId, ORGANIZATION_ID } from '../domain/input/organization.ts'
import type { RetryInput } from '../domain/input/retry.ts'
import type { AnyChannel, ChannelParts, SendInput } from '../domain/input/send.ts'
import type { SuppressionInput, SuppressionTarget } from '../domain/input/suppression.ts'
import type { TemplateChangeInput, TemplateDraft, TemplateInput } from '../domain/input/template.ts'
import type { WebhookEndpointInput, WebhookEndpointUpdate } from '../domain/input/webhook-endpoint.ts'
import type { JsonFields } from '../domain/json-fields.ts'
import type { BatchResult, SentNotification, ValidatedSend } from './accept/records.ts'
import type { ApiKeyRecord, CreatedApiKey } from './api-keys/records.ts'
import type { DeadLetterGroupQuery, DeadLetterQuery, RetryResult } from './dead-letters/records.ts'
import type { AccountLimits } from './limits/records.ts'
import type { List, ListQuery } from './list.ts'
import type {
  GetNotificationOptions,
  LogQuery,
  LogRecord,
  NotificationQuery,
  NotificationRecord,
  NotificationSummary,
  WaitOptions,
} from './notifications/records.ts'
import { wrong } from './scope.ts'
import type { FailureGroups, Statistics } from './statistics/records.ts'
import type { SuppressionQuery, SuppressionRecord } from './suppressions/records.ts'
import type { TemplatePreview, TemplateRecord, TemplateVersionRecord } from './templates/records.ts'
import type {
  CreatedWebhookEndpoint,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from './webhook-endpoints/records.ts'

/**
 * The whole API of one organization, as {@link MultiTenantNotifier.organization} gives it. Its methods may be kept and passed
 * on alone. None finds anything of another organization.
 */
export interface Tenant<Tx = never, Channels extends ChannelParts = AnyChannel> {
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
  send(message: SendInput<Channels>, options?: SendOptions<Tx>): Promise<SentNotification>
  /** Checks everything that {@link send} checks, in the same order, and renders; stores and sends nothing. */
  validate(message: SendInput<Channels>, options?: SendOptions): Promise<ValidatedSend>
  /**
   * Accepts up to 10,000 notifications in one commit. Each is judged on its own: a bad one never fails the others. Where
   * their templates are, or become, too large in all, the rest of those that name one is refused (`message_too_large`).
   *
   * @throws NotifierError `invalid_parameter` when there are none or too many
   */
  sendBatch(messages: readonly SendInput<Channels>[], options?: SendOptions<Tx>): Promise<BatchResult>

  /**
   * Waits for the first outcome of a notification, for tests and scripts: until its status is neither `scheduled` nor
   * `queued`. Resolves at once where that is so. What other processes do is noticed within half a second. A wait keeps
   * the process alive.
   *
   * @throws NotifierError `wait_timeout`, `notification_not_found`, `organization_mismatch`, and `service_unavailable` when
   *   the notifier stops
   */
  waitFor(id: string, options?: WaitOptions): Promise<NotificationRecord>

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
    cancel(id: string): Promise<NotificationRecord>
    /**
     * Sends the same message once more, whatever became of it, as a new notification: its template version and
     * variables, recipient and priority, at once. Where the first was to expire, this one does after the same time.
     * Counts like any send.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`, `content_removed` when it was sensitive and has
     *   ended, `invalid_channel` when the channel is no longer configured, and as {@link Tenant.send}
     */
    resend(id: string, options?: Omit<SendOptions<Tx>, 'strict'>): Promise<SentNotification>
    /**
     * Delivers one that failed once more, as itself: the same id, history and expiry, with all attempts before it. It does
     * not count again. What has ended otherwise is for {@link resend}.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`, `not_retryable` when it is not failed or
     *   has expired, `content_removed` when it was sensitive, `invalid_channel` when the channel is no longer configured
     */
    retry(id: string): Promise<NotificationRecord>
  }
  /** Notifications that failed: after their last attempt, or for a reason that no attempt would change. */
  readonly deadLetters: {
    /** Newest first. */
    list(query?: DeadLetterQuery): Promise<List<NotificationSummary>>
    /** Groups them by code, provider and channel, so that one cause is seen, and retried, as one. */
    groups(query?: DeadLetterGroupQuery): Promise<FailureGroups>
    /**
     * Delivers what failed once more, as `notifications.retry` does, many at a time and in short steps. None is retried
     * twice, whoever else retries. What would have expired when it is due stays as it is, and so does what fails again
     * while this goes on. Suppressed recipients fail again without an attempt.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
     */
    retry(retry: RetryInput): Promise<RetryResult>
  }
  readonly templates: {
    /** @throws NotifierError `template_already_exists`, `missing_required_field`, `invalid_parameter` */
    create(template: TemplateInput): Promise<TemplateRecord>
    /** By id or name. @throws NotifierError `template_not_found` (404), `organization_mismatch` */
    get(idOrName: string): Promise<TemplateRecord>
    /** Newest first. A page of large ones ends before its `limit`, when it has 2 MiB of text: `hasMore` is true then. */
    list(query?: ListQuery): Promise<List<TemplateRecord>>
    /**
     * Changes what is given; a change of subject, body or format makes a new version. Queued notifications keep theirs.
     *
     * @throws NotifierError as `get` and `create`, and `version_conflict` where `version` is not the present one
     */
    update(idOrName: string, change: TemplateChangeInput): Promise<TemplateRecord>
    /** The versions of a template, newest first, in pages as those of `list`. @throws NotifierError as `get` */
    versions(idOrName: string, query?: ListQuery): Promise<List<TemplateVersionRecord>>
    /** One version of a template. @throws NotifierError as `get` */
    version(idOrName: string, version: number): Promise<TemplateVersionRecord>
    /**
     * Makes a new version with the subject and text of an earlier one. Where the present version has the same, it stays.
     *
     * @throws NotifierError as `get`
     */
    restore(idOrName: string, version: number): Promise<TemplateRecord>
    /**
     * Renders a template with example values, as a send would.
     *
     * @throws NotifierError as `get`, `invalid_template_variable`, whose details have the `placeholders`, and
     *   `message_too_large`
     */
    preview(idOrName: string, variables?: JsonFields): Promise<TemplatePreview>
    /**
     * Renders a template that is not stored, as {@link preview}.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, and as `preview`
     */
    previewDraft(draft: TemplateDraft): Promise<TemplatePreview>
    /** Queued notifications keep the version they were accepted with. @throws NotifierError as `get` */
    delete(idOrName: string): Promise<void>
  }
  readonly apiKeys: {
    /** The answer holds the secret, which is never shown again. @throws NotifierError `not_found`, `invalid_parameter` */
    create(key: ApiKeyInput): Promise<CreatedApiKey>
    /** @throws NotifierError `not_found`, `organization_mismatch` */
    get(id: string): Promise<ApiKeyRecord>
    list(query?: ListQuery): Promise<List<ApiKeyRecord>>
    /** The key stops working at once, on every machine. @throws NotifierError `not_found`, `organization_mismatch` */
    delete(id: string): Promise<void>
  }
  readonly webhooks: {
    /**
     * The answer holds the signing secret, which is never shown again. An organization has at most 50 endpoints.
     *
     * @throws NotifierError `invalid_parameter`, `blocked_address`, `endpoint_limit_reached`
     */
    create(endpoint: WebhookEndpointInput): Promise<CreatedWebhookEndpoint>
    /** @throws NotifierError `not_found`, `organization_mismatch` */
    get(id: string): Promise<WebhookEndpointRecord>
    list(query?: ListQuery): Promise<List<WebhookEndpointRecord>>
    /**
     * Changes what is given. Enabling redelivers nothing by itself.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `blocked_address`
     */
    update(id: string, change: WebhookEndpointUpdate): Promise<WebhookEndpointRecord>
    /**
     * Makes a new signing secret, which the answer holds and which is never shown again. Those before sign beside it for
     * `overlapMs` (default: a day; 0 ends them at once); at most five sign.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`
     */
    rotateSecret(
      id: string,
      options?: { readonly overlapMs?: number | undefined },
    ): Promise<CreatedWebhookEndpoint>
    /**
     * Posts an example event of the type `webhook.test` at once, to a disabled endpoint too, and says how that ended.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`
     */
    test(id: string): Promise<WebhookPostRecord>
    /** The delivery log of an endpoint, newest first. @throws NotifierError `not_found`, `organization_mismatch` */
    deliveries(id: string, query?: WebhookDeliveryQuery): Promise<List<WebhookDeliveryRecord>>
    /**
     * Makes what was held, or failed, of the events since a time due again, under the same `webhook-id`s.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `endpoint_disabled`
     */
    redeliver(id: string, which: { readonly since: string | Date }): Promise<{ readonly redelivered: number }>
    /**
     * Makes one delivery due at once, whatever became of it: one that waits for its next attempt, failed, was held, or
     * arrived. Its `webhook-id` stays. Answers the delivery as it is then; one that is under way is left alone.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `endpoint_disabled`
     */
    redeliverOne(id: string, eventId: string): Promise<WebhookDeliveryRecord>
    /** Pending deliveries to it are dropped. @throws NotifierError `not_found`, `organization_mismatch` */
    delete(id: string): Promise<void>
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
    add(suppression: SuppressionInput): Promise<SuppressionRecord>
    /** Newest first. */
    list(query?: SuppressionQuery): Promise<List<SuppressionRecord>>
    /** Sends to it again. @throws NotifierError `not_found` */
    remove(recipient: SuppressionTarget): Promise<void>
  }
  readonly limits: {
    /** The plan and how much of it is used. @throws NotifierError `not_found` */
    get(): Promise<AccountLimits>
  }
  /** Counts for an overview, bounded so that they stay cheap. */
  readonly statistics: {
    get(): Promise<Statistics>
  }
  readonly logs: {
    /** The delivery log, newest first. */
    list(query?: LogQuery): Promise<List<LogRecord>>
  }
}

export interface SendOptions<Tx = never> {
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

type Method = (organizationId: string, ...input: readonly never[]) => unknown

/** The same methods for all organizations: each takes the id of one before its own arguments. */
export type Scoped<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: infer Input) => infer Output
    ? (organizationId: string, ...input: Input) => Output
    : Scoped<Api[Name]>
}

/** Binds the methods to one organization. */
export function ofOrganization<Api extends object>(scoped: Scoped<Api>, organizationId: string): Api {
  const bound = Object.entries<Method | Scoped<object>>(scoped).map(([name, each]) => [
    name,
    typeof each === 'function'
      ? (...input: readonly never[]) => each(organizationId, ...input)
      : ofOrganization(each, organizationId),
  ])
  return Object.fromEntries(bound)
}

/** @throws NotifierError `invalid_parameter` */
export function assertOrganizationId(id: unknown): asserts id is string {
  if (typeof id !== 'string' || !isOrganizationId(id)) throw wrong('organizationId', ORGANIZATION_ID)
}
