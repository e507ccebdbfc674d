import type { AnyChannel, ChannelParts, SendInput } from './core/accept/input.ts'
import type { BatchResult, SentNotification, ValidatedSend } from './core/accept/model.ts'
import type { JsonFields } from './core/input/json-fields.ts'
import type { AccountLimits } from './core/limits/model.ts'
import type {
  GetNotificationOptions,
  LogQuery,
  LogRecord,
  NotificationQuery,
  NotificationRecord,
  NotificationSummary,
  WaitOptions,
} from './core/notification/model.ts'
import type { RescheduleInput } from './core/notification/reschedule-input.ts'
import type { List, ListQuery } from './core/records/list.ts'
import { wrong } from './core/tenancy/scope.ts'
import type { DraftChangeInput, PublishOptions } from './core/text/draft-input.ts'
import type { TemplateChangeInput, TemplateInput } from './core/text/input.ts'
import type {
  TemplateComparison,
  TemplateDraftRecord,
  TemplateLint,
  TemplatePreview,
  TemplateRecord,
  TemplateVersionRecord,
} from './core/text/model.ts'
import type { LintOptions, PreviewOptions, TemplateDraft } from './core/text/preview-input.ts'
import type { ApiKeyInput } from './features/api-keys/input.ts'
import type { ApiKeyRecord, CreatedApiKey, KeyRotation } from './features/api-keys/model.ts'
import type { Attachments } from './features/attachments/api.ts'
import type { CategoryRecord } from './features/categories/api.ts'
import type { CategoryChange, CategoryInput } from './features/categories/input.ts'
import type { AnyTemplate, DeclaredTemplates } from './features/code-templates/declared-templates.ts'
import type { RetryInput } from './features/failures/input.ts'
import type { DeadLetterGroupQuery, DeadLetterQuery, RetryResult } from './features/failures/model.ts'
import type { FailureGroups, Statistics } from './features/failures/statistics-model.ts'
import type { Catalogues } from './features/languages/api.ts'
import type { MissingTranslations } from './features/languages/model.ts'
import type { SharedTexts } from './features/layouts/api.ts'
import { isOrganizationId, ORGANIZATION_ID } from './features/organizations/input.ts'
import type { PreferencesRecord } from './features/preferences/api.ts'
import type { PreferencesInput, PreferencesOf } from './features/preferences/input.ts'
import type { SuppressionQuery, SuppressionRecord } from './features/suppressions/api.ts'
import type { SuppressionInput, SuppressionTarget } from './features/suppressions/input.ts'
import type { WebhookEndpointInput, WebhookEndpointUpdate } from './features/webhook-events/input.ts'
import type {
  CreatedWebhookEndpoint,
  NotificationDeliveryRecord,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from './features/webhook-events/model.ts'

/**
 * The API of one organization, from {@link MultiTenantNotifier.organization}. Its methods do not depend on `this`. They
 * find no data of other organizations.
 */
export interface Tenant<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> {
  /**
   * For the compiler alone, and never set. As the first member it makes TypeScript 5 compare the members of two tenants,
   * which fit, where it would otherwise compare their type arguments, which do not.
   */
  readonly '~parts'?: { readonly [Name in keyof Channels]?: unknown } | undefined
  /**
   * Accepts one notification. Resolves when it is stored; delivery follows.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`,
   *   `invalid_phone`, `invalid_recipient`, `unknown_attachment`, `template_not_found` (422), `invalid_template_variable`,
   *   `message_too_large`, `region_not_permitted`, `invalid_sender`, `blocked_recipient` and `unsubscribed` for a suppressed recipient,
   *   `not_found` for an unknown organization, `idempotency_key_reused`, `idempotency_in_progress`,
   *   `rate_limit_exceeded`, `notification_quota_exceeded`, `service_unavailable`, `not_started`, and with `tx` also
   *   `invalid_transaction`
   */
  send(message: SendInput<Channels, Templates>, options?: SendOptions<Tx>): Promise<SentNotification>
  /** Performs all checks of {@link send} in the same order, and renders; stores and sends nothing. */
  validate(message: SendInput<Channels, Templates>, options?: SendOptions): Promise<ValidatedSend>
  /**
   * Accepts up to 10,000 notifications in one commit. Each is judged on its own: an invalid one does not fail the
   * others. If their templates together are too large, expanded or not, the remaining messages with a template are
   * refused (`message_too_large`).
   *
   * @throws NotifierError `invalid_parameter` for an empty or too large batch
   */
  sendBatch(
    messages: readonly SendInput<Channels, Templates>[],
    options?: SendOptions<Tx>,
  ): Promise<BatchResult>

  /**
   * Waits until the status of a notification is neither `scheduled` nor `queued`, for tests and scripts. Notices work
   * of other processes within half a second. Keeps the process alive.
   *
   * @throws NotifierError `wait_timeout`, `notification_not_found`, `organization_mismatch`, and `service_unavailable`
   *   when the notifier stops
   */
  waitFor(id: string, options?: WaitOptions): Promise<NotificationRecord>

  readonly notifications: {
    /**
     * One notification with its timeline; with `rendered: true` also its content.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`; with `rendered` also `sensitive_content`
     *   for a sensitive message, `content_removed` for a large one that a preference had turned off, and `template_error`
     *   if it cannot be rendered
     */
    get(id: string, options?: GetNotificationOptions): Promise<NotificationRecord>
    /** Newest first. */
    list(query?: NotificationQuery): Promise<List<NotificationSummary>>
    /**
     * Lists the webhook events about a notification at every endpoint, newest first: at most 200, of the newest 1,000
     * entries of its timeline.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`
     */
    webhookDeliveries(id: string): Promise<{ readonly items: readonly NotificationDeliveryRecord[] }>
    /**
     * Cancels a notification before its first attempt.
     *
     * @throws NotifierError `not_cancellable` if an attempt has begun, `notification_not_found`,
     *   `organization_mismatch`
     */
    cancel(id: string): Promise<NotificationRecord>
    /**
     * Changes `sendAt` of a scheduled notification before its first attempt; null, or a time in the past, sends it now.
     *
     * @throws NotifierError `not_reschedulable` if it is not scheduled, an attempt has begun, it has ended or expired, or
     *   after 100 reschedules,
     *   `notification_not_found`, `organization_mismatch`, `missing_required_field`, `invalid_parameter` for a time more
     *   than a year ahead or not before its `expiresAt`
     */
    reschedule(id: string, change: RescheduleInput): Promise<NotificationRecord>
    /**
     * Sends the same message again as a new notification, in any state of the first: with its template version and
     * variables, recipient and priority, due now, and with an equally long lifetime. Counts like any send.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`, `content_removed` for an ended sensitive
     *   message and a large one that a preference had turned off, `invalid_channel` if the channel is no longer configured, and as {@link Tenant.send}
     */
    resend(id: string, options?: Omit<SendOptions<Tx>, 'strict'>): Promise<SentNotification>
    /**
     * Delivers a failed notification again as itself: the same id, history and expiry, with a full number of attempts.
     * Does not count again. For other states use {@link resend}.
     *
     * @throws NotifierError `notification_not_found`, `organization_mismatch`, `not_retryable` if it has not failed or
     *   has expired, `content_removed` if it was sensitive, `invalid_channel` if the channel is no longer configured
     */
    retry(id: string): Promise<NotificationRecord>
  }
  /** Notifications that failed: after their last attempt, or for a permanent reason. */
  readonly deadLetters: {
    /** Newest first. */
    list(query?: DeadLetterQuery): Promise<List<NotificationSummary>>
    /** Groups them by code, provider and channel, so that one cause is seen, and retried, as one. */
    groups(query?: DeadLetterGroupQuery): Promise<FailureGroups>
    /**
     * Retries failed notifications as `notifications.retry` does, in short steps. Concurrent calls retry each one once.
     * Notifications that would expire before their due time stay unchanged, and so do those that fail during the call.
     * Suppressed recipients fail again without an attempt.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
     */
    retry(retry: RetryInput): Promise<RetryResult>
  }
  /** Files that are uploaded before the messages that carry them. */
  readonly attachments: Attachments
  readonly templates: {
    /**
     * @throws NotifierError `template_already_exists`, `missing_required_field`, `invalid_parameter`, `invalid_template` if
     *   it cannot be put together with its layout and partials
     */
    create(template: TemplateInput): Promise<TemplateRecord>
    /** By id or name. @throws NotifierError `template_not_found` (404), `organization_mismatch` */
    get(idOrName: string): Promise<TemplateRecord>
    /** Newest first. A page has at most 256 KiB of text, or a single template: `hasMore` is true then. */
    list(query?: ListQuery): Promise<List<TemplateRecord>>
    /**
     * Changes the given fields. A change of subject, text or layout makes a new version; queued notifications keep
     * theirs.
     *
     * @throws NotifierError as `get` and `create`, and `version_conflict` if `version` is not the current one
     */
    update(idOrName: string, change: TemplateChangeInput): Promise<TemplateRecord>
    /** The versions of a template, newest first; pages as in `list`. @throws NotifierError as `get` */
    versions(idOrName: string, query?: ListQuery): Promise<List<TemplateVersionRecord>>
    /** One version of a template. @throws NotifierError as `get` */
    version(idOrName: string, version: number): Promise<TemplateVersionRecord>
    /**
     * Makes a new version with the subject and text of an earlier one. If the current version has the same, it stays.
     *
     * @throws NotifierError as `get`
     */
    restore(idOrName: string, version: number): Promise<TemplateRecord>
    /** The lines that differ between two versions, field by field: at most 2,000. @throws NotifierError as `get` */
    compare(idOrName: string, from: number, to: number): Promise<TemplateComparison>
    /** The draft of a template. @throws NotifierError as `get`, also if it has none */
    draft(idOrName: string): Promise<TemplateDraftRecord>
    /**
     * Changes the given fields of the draft, which begins with the current version. Sends go on with that version.
     *
     * @throws NotifierError as `update`, and `version_conflict` if `edit` is not the current one
     */
    saveDraft(idOrName: string, change: DraftChangeInput): Promise<TemplateDraftRecord>
    /**
     * Makes the draft the newest version. If it equals the current one, that stays. The draft is removed.
     *
     * @throws NotifierError as `draft`, `invalid_template`, and `version_conflict` if the template has a newer version than
     *   the draft began with, unless `version` names it
     */
    publish(idOrName: string, options?: PublishOptions): Promise<TemplateRecord>
    /** Removes the draft. @throws NotifierError as `draft` */
    discardDraft(idOrName: string): Promise<void>
    /**
     * Renders a template with example values as a send would, with the given parts of its channel.
     *
     * @throws NotifierError as `get`, `invalid_template_variable` with the `placeholders` in its details,
     *   `message_too_large`, and as {@link Tenant.send} for the recipient and the parts
     */
    preview(
      idOrName: string,
      variables?: JsonFields,
      options?: PreviewOptions<Channels>,
    ): Promise<TemplatePreview>
    /**
     * Renders an unstored template, like {@link preview}.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, and as `preview`
     */
    previewDraft(draft: TemplateDraft<Channels>): Promise<TemplatePreview>
    /**
     * Finds faults of a template in all its locales, with its layout and partials: what a send would refuse, and what people
     * would not see as it was meant. docs/lint.md lists the rules.
     *
     * @throws NotifierError as `get`, as `draft` with `draft`, and as {@link Tenant.send} for the parts
     */
    lint(idOrName: string, options?: LintOptions<Channels>): Promise<TemplateLint>
    /**
     * Finds faults of an unstored template, like {@link lint}, in all its locales: `inLocale` and `recipient` have no effect.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, and as {@link Tenant.send} for
     *   the parts
     */
    lintDraft(draft: TemplateDraft<Channels>): Promise<TemplateLint>
    /**
     * What templates lack in the locales of the organization, newest first: messages and variants. The locales are those
     * of all catalogues and of the template. A page may be short, or empty, although more follow.
     */
    missing(query?: ListQuery): Promise<List<MissingTranslations>>
    /** Deletes a template. Queued notifications keep their version. @throws NotifierError as `get` */
    delete(idOrName: string): Promise<void>
  }
  /** Texts around those of templates, such as the header and footer of all mails. */
  readonly layouts: SharedTexts
  /** Texts that templates, layouts and other partials insert with `{{> name}}`. */
  readonly partials: SharedTexts
  /** Messages for templates in several languages: `{{@welcome.title}}`. */
  readonly messages: Catalogues
  readonly apiKeys: {
    /**
     * Creates a key. The result holds the secret, which is never shown again. At most 1,000 per organization.
     *
     * @throws NotifierError `not_found`, `invalid_parameter`, `key_limit_reached`
     */
    create(key: ApiKeyInput): Promise<CreatedApiKey>
    /** @throws NotifierError `not_found`, `organization_mismatch` */
    get(id: string): Promise<ApiKeyRecord>
    list(query?: ListQuery): Promise<List<ApiKeyRecord>>
    /**
     * Makes a key with the name, rights and expiry of an old one. The result holds the secret, which is never shown again.
     * The old key works on for `overlapMs`, or until its expiry if that is sooner.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter` (also if the key has expired),
     *   `key_limit_reached`, `key_already_rotated` while the key that replaces it exists
     */
    rotate(id: string, options?: KeyRotation): Promise<CreatedApiKey>
    /** The key stops working at once, on every machine. @throws NotifierError `not_found`, `organization_mismatch` */
    delete(id: string): Promise<void>
  }
  readonly webhooks: {
    /**
     * Creates an endpoint. The result holds the signing secret, which is never shown again. At most 50 per
     * organization.
     *
     * @throws NotifierError `invalid_parameter`, `blocked_address`, `endpoint_limit_reached`
     */
    create(endpoint: WebhookEndpointInput): Promise<CreatedWebhookEndpoint>
    /** @throws NotifierError `not_found`, `organization_mismatch` */
    get(id: string): Promise<WebhookEndpointRecord>
    list(query?: ListQuery): Promise<List<WebhookEndpointRecord>>
    /**
     * Changes the given fields. Enabling an endpoint redelivers nothing.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `blocked_address`
     */
    update(id: string, change: WebhookEndpointUpdate): Promise<WebhookEndpointRecord>
    /**
     * Makes a new signing secret. The result holds it; it is never shown again. Older secrets also sign for `overlapMs`
     * (default: a day; 0 ends them at once); at most five sign.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`
     */
    rotateSecret(
      id: string,
      options?: { readonly overlapMs?: number | undefined },
    ): Promise<CreatedWebhookEndpoint>
    /**
     * Posts an example event of the type `webhook.test` at once, also to a disabled endpoint, and returns the result.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`
     */
    test(id: string): Promise<WebhookPostRecord>
    /** The delivery log of an endpoint, newest first. @throws NotifierError `not_found`, `organization_mismatch` */
    deliveries(id: string, query?: WebhookDeliveryQuery): Promise<List<WebhookDeliveryRecord>>
    /**
     * Makes held and failed deliveries of events since a time due again, with the same `webhook-id`s.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `invalid_parameter`, `endpoint_disabled`
     */
    redeliver(id: string, which: { readonly since: string | Date }): Promise<{ readonly redelivered: number }>
    /**
     * Makes one delivery due at once in any state, with the same `webhook-id`. Returns the delivery afterwards. One
     * under way is left alone.
     *
     * @throws NotifierError `not_found`, `organization_mismatch`, `endpoint_disabled`
     */
    redeliverOne(id: string, eventId: string): Promise<WebhookDeliveryRecord>
    /** Deletes an endpoint with its pending deliveries. @throws NotifierError `not_found`, `organization_mismatch` */
    delete(id: string): Promise<void>
  }
  /** Suppressed recipients: sends to them are refused, and notifications accepted before fail. */
  readonly suppressions: {
    /**
     * Suppresses a recipient on a channel. An existing entry keeps its reason, which the result shows.
     *
     * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`,
     *   `invalid_phone`, `invalid_recipient`
     */
    add(suppression: SuppressionInput): Promise<SuppressionRecord>
    /** Newest first. */
    list(query?: SuppressionQuery): Promise<List<SuppressionRecord>>
    /** Removes an entry. @throws NotifierError `not_found` */
    remove(recipient: SuppressionTarget): Promise<void>
  }
  /** Categories of messages, which people turn on and off: those in code, and the organization's own. */
  readonly categories: {
    /** @throws NotifierError `category_already_exists`, `missing_required_field`, `invalid_parameter` */
    create(category: CategoryInput): Promise<CategoryRecord>
    /** By id or former id. @throws NotifierError `not_found` */
    get(id: string): Promise<CategoryRecord>
    /** All of them: those in code first, then the organization's own, newest first. */
    list(): Promise<{ readonly items: readonly CategoryRecord[] }>
    /**
     * Changes the given fields. A category in code changes in the option `categories` only (`invalid_parameter`).
     *
     * @throws NotifierError `not_found`, `invalid_parameter`, `category_already_exists` for a former id of another one
     */
    update(id: string, change: CategoryChange): Promise<CategoryRecord>
    /** Preferences for it stay, for a category with the same id. @throws NotifierError `not_found`, `invalid_parameter` */
    delete(id: string): Promise<void>
  }
  /** What people want to get: stored by the application's id of a person, or by an address on a channel. */
  readonly preferences: {
    /** @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`, … */
    get(who: PreferencesOf): Promise<PreferencesRecord>
    /**
     * Changes the given cells; null clears one. Concurrent changes of other cells are kept.
     *
     * @throws NotifierError as `get`, and `unknown_category`
     */
    change(who: PreferencesOf, changes: PreferencesInput): Promise<PreferencesRecord>
    /** Replaces all cells. @throws NotifierError as `change` */
    replace(who: PreferencesOf, preferences: PreferencesInput): Promise<PreferencesRecord>
  }
  readonly limits: {
    /** The plan and its use. @throws NotifierError `not_found` */
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
  /** 1 to 255 visible ASCII characters. A request with the same key is accepted once. Kept for 24 hours. */
  readonly idempotencyKey?: string | undefined
  /**
   * False: ignores unknown fields of a message, except those that belong elsewhere, such as `idempotencyKey`. Default
   * true: they are refused (`invalid_parameter`).
   */
  readonly strict?: boolean | undefined
  /**
   * A transaction of the caller: the notification is sent if it commits, and never if it rolls back. Its type depends
   * on the storage: for PostgreSQL an open transaction of `pg`, Kysely, Drizzle or Knex; for SQLite a function that is
   * called with the database inside the transaction. Without the option
   * `storage` the type allows none: pass `sqlite({ file: ':memory:' })`. See docs/scaling.md.
   */
  readonly tx?: Tx | undefined
}

/** The same methods for all organizations, with the organization's id as the first argument. */
export type Scoped<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: infer Input) => infer Output
    ? (organizationId: string, ...input: Input) => Output
    : Scoped<Api[Name]>
}

type Method = (organizationId: string, ...input: readonly unknown[]) => unknown
type Bind = (organizationId: string) => unknown

/** The arguments of calls that are read before the call, such as messages with files. */
export interface Reading {
  /** The position of the argument, by the names of the method and what it belongs to. */
  readonly at: Positions
  /** The argument as read. Undefined: there is nothing to read. */
  read(argument: unknown): Promise<unknown> | undefined
}

export interface Positions {
  readonly [name: string]: number | Positions
}

/** Returns a function that binds the methods to an organization. */
export function binding<Api extends object>(
  scoped: Scoped<Api>,
  { at, read }: Reading = { at: {}, read: () => undefined },
): (organizationId: string) => Api {
  const members = Object.entries<Method | Scoped<object>>(scoped).map(([name, member]): [string, Bind] => {
    const where = at[name]
    if (typeof member !== 'function')
      return [name, binding(member, { read, at: typeof where === 'object' ? where : {} })]
    if (typeof where !== 'number')
      return [
        name,
        (id) =>
          (...input: unknown[]) =>
            member(id, ...input),
      ]
    const readFirst: Bind =
      (id) =>
      (...input: unknown[]) => {
        const reading = read(input[where])
        if (reading === undefined) return member(id, ...input)
        return reading.then((argument) => member(id, ...input.with(where, argument)))
      }
    return [name, readFirst]
  })
  return (organizationId) => {
    const bound: Record<string, unknown> = {}
    for (const [name, bind] of members) bound[name] = bind(organizationId)
    return bound as Api
  }
}

/** @throws NotifierError `invalid_parameter` */
export function assertOrganizationId(id: unknown): asserts id is string {
  if (typeof id !== 'string' || !isOrganizationId(id)) throw wrong('organizationId', ORGANIZATION_ID)
}
