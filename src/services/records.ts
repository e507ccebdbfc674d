import type { Permission } from '../domain/api-key.ts'
import type { ChannelName } from '../domain/channel.ts'
import type { WebhookEventType } from '../domain/endpoint-health.ts'
import type { ErrorCode } from '../domain/errors/catalogue.ts'
import type { NewSuppression, SuppressionTarget } from '../domain/input/suppression.ts'
import type { EmailContent, PushContent, SlackContent } from '../domain/message-parts.ts'
import type { CounterName, HistogramName } from '../domain/metrics.ts'
import type { BodyFormat, NotificationFailure, NotificationStatus, Priority } from '../domain/notification.ts'
import type { SmsText } from '../domain/sms-segments.ts'
import type { SuppressionReason } from '../domain/suppression.ts'
import type { ReceiptRequest } from '../ports/receipts.ts'
import type { Backlog } from '../ports/storage/backlog.ts'

export interface HealthReport {
  /** `ok`: accepts. `unavailable`: not started, stopping, in maintenance, or the storage does not answer. */
  readonly status: 'ok' | 'unavailable'
  /** Why it is unavailable, for people. */
  readonly reason: string | null
  readonly storage: { readonly name: string; readonly durable: boolean; readonly answers: boolean }
  /** Null: there is no queue engine. */
  readonly queue: QueueHealth | null
  /** The providers of this process; of those of single organizations the ones that are open, at most 1,000 in all. */
  readonly providers: readonly ProviderHealth[]
  /** What is due and has no provider that could be asked: at most 100 lanes. */
  readonly waiting: readonly WaitingLane[]
}

export interface QueueHealth {
  readonly name: string
  /** Whether it took the last announcement of this process. If not, jobs are found by polling. */
  readonly takes: boolean
}

export interface ProviderHealth {
  readonly channel: ChannelName
  readonly name: string
  /** The organization whose instance it is; null: it serves all. */
  readonly organizationId: string | null
  /** `paused`: rests after faults of its own. `probing`: the next message tells whether it works again. */
  readonly state: 'ready' | 'paused' | 'probing'
  /** When its rest ends, ISO 8601 UTC; null: it does not rest. */
  readonly pausedUntil: string | null
  /** Why it rests or is tried again; null: it is ready, or another process met the fault. */
  readonly code: ErrorCode | null
  /** Messages of this process under way. */
  readonly running: number
}

/** Notifications that are due, and wait for a configuration. */
export interface WaitingLane {
  /** The name that the storage's jobs carry: `email`, or `email@org_…` for an organization's own providers. */
  readonly lane: string
  /**
   * `not_configured`: this process has no provider for them. `unavailable`: the function that makes the organization's
   * providers fails.
   */
  readonly reason: 'not_configured' | 'unavailable'
}

/** Which organization a call concerns. */
export interface Scope {
  /** Default `org_default`. */
  readonly organizationId?: string | undefined
}

/** SPEC.md "Notification (response to a send request)". */
export interface SentNotification {
  /** `notif_<digits>` */
  readonly id: string
  readonly status: 'queued' | 'scheduled'
  readonly channel: ChannelName
  /** Recipient as sent. */
  readonly to: string
  /** ISO 8601 UTC. */
  readonly createdAt: string
  /** True when an earlier request with the same idempotency key made it. */
  readonly replayed: boolean
}

export interface ValidatedSend {
  readonly channel: ChannelName
  readonly to: string
  /** What would be sent. */
  readonly rendered: RenderedRecord & PartsRecord
}

/** Text as a recipient would get it. */
export interface RenderedRecord {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** On the channel `sms`: how the text travels, and what it is charged as. */
  readonly sms?: SmsText | undefined
}

/** What goes along with a text; absent what was not given. */
export interface PartsRecord {
  readonly email?:
    | (Omit<EmailContent, 'attachments'> & { readonly attachments?: readonly AttachmentRecord[] | undefined })
    | undefined
  readonly push?: PushContent | undefined
  readonly slack?: SlackContent | undefined
}

/** An attachment without its content, which is never shown. */
export interface AttachmentRecord {
  readonly filename: string
  readonly contentType: string
  /** In bytes. */
  readonly size: number
}

export interface BatchResult {
  readonly accepted: number
  readonly rejected: number
  /** One per message, in order. */
  readonly items: readonly BatchItem[]
  readonly createdAt: string
  readonly replayed: boolean
}

export type BatchItem =
  | { readonly index: number; readonly id: string; readonly status: 'queued' | 'scheduled' }
  | { readonly index: number; readonly error: ItemError }

export interface ItemError {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * What has a request limit: an endpoint with one of its own (SPEC.md "Rules" 4), what needs no key (`public`), what links
 * in messages lead to (`links`), or
 * everything else together. Receipts are not limited: a provider sends as many as there are messages.
 */
export type LimitedResource =
  | 'requests'
  | 'templates.list'
  | 'templates.create'
  | 'logs.list'
  | 'public'
  | 'receipts'
  | 'links'

/** One limit as it stands: what the X-RateLimit headers say. */
export interface RateLimitState {
  /**
   * `requests`, an endpoint, `concurrency`, `hourly_notifications`, `monthly_notifications`, `account`, `address`,
   * `public` or `links`; `unlimited` where the plan limits nothing, and then `limit` and `remaining` are {@link NO_LIMIT}; `service`
   * where nothing passes at all.
   */
  readonly resource: string
  /** Most units in the window. */
  readonly limit: number
  readonly remaining: number
  /** Unix seconds at which `remaining` next rises. */
  readonly resetAt: number
}

/**
 * What stands for "no limit" where a number must be (SPEC.md "Rules" 10: every response carries the rate headers): the
 * largest that a client which reads 32-bit integers can take.
 */
export const NO_LIMIT = 2_147_483_647

/** Whose provider reports. */
export interface ReceiptSource {
  /** Left out: the instance that serves all organizations. */
  readonly organizationId?: string | undefined
  readonly channel: ChannelName
  /** The instance's name. */
  readonly provider: string
}

/** A provider's request, as it arrived; see `ReceiptRequest`. */
export interface ReceiptArrival extends Omit<ReceiptRequest, 'url' | 'receivedAt'> {
  /** Path below the mount, and the query with its question mark. */
  readonly target: string
  /** The Host header. */
  readonly host: string | undefined
}

/** What a provider is answered with, with status 200. */
export interface ReceiptReply {
  readonly contentType: string
  readonly body: string
}

/** A request that was counted. */
export interface Admission {
  /** The limit that is nearest to a refusal. */
  readonly state: RateLimitState
  /** Gives the concurrency slot back. Harmless when repeated. */
  release(): Promise<void>
}

/** SPEC.md "Account limits"; null where the plan has no limit. */
export interface AccountLimits {
  readonly organizationId: string
  /** Name of the plan. */
  readonly plan: string
  readonly limits: {
    readonly requests: LimitUsage | null
    readonly concurrentRequests: { readonly limit: number } | null
    readonly notificationsPerHour: LimitUsage | null
    readonly notificationsPerMonth: LimitUsage | null
  }
  /** Set while sustained overuse restricts the organization. */
  readonly restriction: { readonly until: string } | null
}

export interface LimitUsage {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  /** ISO 8601: when `remaining` next rises. */
  readonly resetAt: string
  /** Length of the window; null: a calendar month. */
  readonly windowSeconds: number | null
}

export interface ListQuery extends Scope {
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined
  /** Rows to skip; default 0. For deep pages use `cursor`. */
  readonly offset?: number | undefined
  /** `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined
}

export interface NotificationQuery extends ListQuery {
  readonly channel?: ChannelName | undefined
  readonly status?: NotificationStatus | undefined
  readonly to?: string | undefined
  /** Template id or name. */
  readonly template?: string | undefined
  /** Accepted at or after: ISO 8601. */
  readonly from?: string | undefined
  /** Accepted before: ISO 8601. */
  readonly until?: string | undefined
}

export interface LogQuery extends ListQuery {
  readonly channel?: ChannelName | undefined
  readonly status?: NotificationStatus | undefined
  readonly notificationId?: string | undefined
}

/** One page, newest first. */
export interface List<Item> {
  readonly items: readonly Item[]
  readonly limit: number
  readonly offset: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

export interface NotificationSummary {
  readonly id: string
  readonly status: NotificationStatus
  readonly channel: ChannelName
  readonly to: string
  /** Literal subject; null where a template gives it. */
  readonly subject: string | null
  /** Name of the template; null where the text was sent literally. */
  readonly template: string | null
  readonly priority: Priority
  readonly sendAt: string | null
  readonly expiresAt: string | null
  readonly provider: string | null
  readonly error: NotificationFailure | null
  readonly createdAt: string
  /** The id of the notification that this one repeats. */
  readonly resendOf: string | null
}

export interface NotificationRecord extends NotificationSummary, PartsRecord {
  /** Everything that is known of it, in order. */
  readonly timeline: readonly TimelineRecord[]
}

export interface TimelineRecord {
  readonly sequence: number
  readonly event: string
  readonly status: NotificationStatus
  /** ISO 8601 UTC. */
  readonly timestamp: string
  readonly attempt: number | null
  readonly provider: string | null
  readonly providerMessageId: string | null
  readonly error: (NotificationFailure & { readonly providerCode?: string }) | null
  readonly durationMs: number | null
  /** Of a text message that was handed over: the segments it is charged as. */
  readonly segments: number | null
  /** True when the provider may have acted although no answer came. */
  readonly ambiguous: boolean
  /** True where a machine opened or clicked (a mail privacy proxy, a scanner): it changed no status. */
  readonly machine: boolean
}

/** DESIGN.md §4 "Log entry". */
export interface LogRecord {
  readonly id: string
  readonly notificationId: string
  readonly channel: ChannelName
  readonly to: string
  readonly status: NotificationStatus
  readonly event: string
  readonly provider: string | null
  readonly attempt: number | null
  /** Of a text message that was handed over: the segments it is charged as. */
  readonly segments: number | null
  /** True where a machine opened or clicked (a mail privacy proxy, a scanner): it changed no status. */
  readonly machine: boolean
  readonly error: NotificationFailure | null
  readonly template: string | null
  readonly createdAt: string
}

/** SPEC.md "Template". */
export interface TemplateRecord {
  readonly id: string
  readonly name: string
  readonly channel: ChannelName
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
  readonly description: string | null
  readonly version: number
  readonly createdAt: string
}

export interface OrganizationInput {
  /** `org_` and 1 to 60 letters, digits, hyphens or underscores. Default: random. */
  readonly id?: string | undefined
  /** 1 to 200 characters. */
  readonly name: string
  /** Name of a plan of the option `plans`. Default: `free`. */
  readonly plan?: string | null | undefined
  /**
   * Calling codes such as `+49` that text messages may go to; for a part of `+1` its area code (`+1876`). Others are
   * refused with `region_not_permitted`. Default null: all.
   */
  readonly smsCountries?: readonly string[] | null | undefined
  /**
   * Days after which what has ended is removed, with its log and webhook deliveries; 1 to 36 500. Default null: as the
   * option `retention` says.
   */
  readonly retentionDays?: number | null | undefined
  /**
   * What is counted of HTML mails, by a picture (`opens`) and by links that lead over `publicUrl` (`clicks`), without
   * which nothing is; what is absent is off. Default: nothing.
   */
  readonly tracking?:
    | { readonly opens?: boolean | undefined; readonly clicks?: boolean | undefined }
    | null
    | undefined
}

export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly plan: string | null
  /** Calling codes that text messages may go to; null: all. */
  readonly smsCountries: readonly string[] | null
  /** Days after which what has ended is removed; null: as the option `retention` says. */
  readonly retentionDays: number | null
  /** What is counted of HTML mails. */
  readonly tracking: { readonly opens: boolean; readonly clicks: boolean }
  readonly createdAt: string
}

export interface ApiKeyInput {
  /** 1 to 200 characters. */
  readonly name: string
  readonly permission: Permission
  /** ISO 8601 or a Date; default: never expires. */
  readonly expiresAt?: string | Date | null | undefined
  /** Addresses and CIDR blocks, IPv4 or IPv6, that may use the key; at most 100. Default: any. */
  readonly allowedIps?: readonly string[] | undefined
}

export interface ApiKeyRecord {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly permission: Permission
  /** How the secret begins and ends, to recognize it. */
  readonly hint: string
  readonly expiresAt: string | null
  /** Empty: any address. */
  readonly allowedIps: readonly string[]
  readonly createdAt: string
}

export interface CreatedApiKey extends ApiKeyRecord {
  /** The key itself: shown once, stored only as a hash. */
  readonly secret: string
}

export interface WebhookEndpointInput {
  /** Public https address without credentials. */
  readonly url: string
  /** Default: the five events of SPEC.md. */
  readonly events?: readonly WebhookEventType[] | undefined
  /** What counts as success. Default `200` (SPEC.md "Events"). */
  readonly successStatus?: '200' | '2xx' | undefined
}

export interface WebhookEndpointRecord {
  readonly id: string
  readonly url: string
  readonly events: readonly WebhookEventType[]
  readonly successStatus: '200' | '2xx'
  readonly status: 'active' | 'disabled'
  readonly disabledReason: string | null
  /** ISO 8601; since when every attempt has failed. Null: the last one succeeded, or there was none. */
  readonly failingSince: string | null
  readonly createdAt: string
}

/** What is absent stays as it is. */
export interface WebhookEndpointUpdate extends Omit<WebhookEndpointInput, 'url'> {
  readonly url?: string | undefined
  /**
   * `disabled`: nothing is sent; what was for it is held. `active`: what comes from now on is sent; what was held is not,
   * until a replay.
   */
  readonly status?: 'active' | 'disabled' | undefined
}

/** The end of one post to an endpoint. */
export interface WebhookPostRecord {
  readonly succeeded: boolean
  /** Null: no answer. */
  readonly status: number | null
  /** The beginning of the answer's body, or why there was none. */
  readonly response: string
  readonly durationMs: number
}

export interface WebhookAttemptRecord extends WebhookPostRecord {
  /** From 1; a replay begins anew. */
  readonly attempt: number
  /** When it was recorded: ISO 8601 UTC. */
  readonly timestamp: string
}

/** One event on its way to one endpoint, or arrived. */
export interface WebhookDeliveryRecord {
  /** The `webhook-id` that the receiver sees. */
  readonly eventId: string
  readonly event: WebhookEventType
  /** `held`: the endpoint was disabled; it waits for a replay. */
  readonly status: 'pending' | 'delivered' | 'failed' | 'held'
  /** The exact body. */
  readonly payload: string
  readonly createdAt: string
  /** In order. */
  readonly attempts: readonly WebhookAttemptRecord[]
}

export interface WebhookDeliveryQuery extends ListQuery {
  readonly status?: WebhookDeliveryRecord['status'] | undefined
}

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  /** `whsec_…`, for the receiver's Standard Webhooks library. */
  readonly secret: string
}

export type { SuppressionTarget }

export type SuppressionInput = NewSuppression

/** A recipient that gets nothing more on a channel. */
export interface SuppressionRecord {
  readonly channel: ChannelName
  /** E-mail addresses in lower case. */
  readonly to: string
  readonly reason: SuppressionReason
  /** Where it comes from, for people. */
  readonly source: string | null
  /** ISO 8601 UTC. */
  readonly createdAt: string
}

export interface SuppressionQuery extends ListQuery {
  readonly channel?: ChannelName | undefined
}

/** What can be counted: in this process since it was created, and in the storage now. */
export interface MetricsSnapshot {
  /** ISO 8601 UTC. */
  readonly at: string
  /** What waits in the storage, for whichever process; null: it did not answer. */
  readonly backlog: (Backlog & { readonly most: number }) | null
  readonly providers: readonly ProviderHealth[]
  readonly counters: Readonly<Record<CounterName, readonly CountRecord[]>>
  readonly histograms: Readonly<Record<HistogramName, readonly DistributionRecord[]>>
}

export interface CountRecord {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface DistributionRecord {
  readonly labels: Readonly<Record<string, string>>
  /** How many were measured, and their sum. */
  readonly count: number
  readonly sum: number
  /** How many were above the bound before and up to `le`; null: without bound. */
  readonly buckets: readonly { readonly le: number | null; readonly count: number }[]
}
