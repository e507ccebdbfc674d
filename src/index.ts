export type { AllOrganizations } from './all-organizations.ts'
export type { AnyTemplate, DeclaredTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
export type { AnyChannel, ChannelParts, SendFields, SendInput } from './core/accept/input.ts'
export type {
  BatchItem,
  BatchResult,
  DelayedSend,
  ItemError,
  SentNotification,
  ValidatedSend,
} from './core/accept/model.ts'
export type { SendOptions, TransactionOption } from './core/accept/options.ts'
export type { SentBy } from './core/accept/refused.ts'
export { API_KEY_PATTERN } from './core/access/key-format.ts'
export type { Grant, Permission } from './core/access/permissions.ts'
export type { ApiKeyRecord, OperatorKeyRecord } from './core/access/verify-key.ts'
export type { AuditAction, AuditTargetKind } from './core/audit/actions.ts'
export type { AuditActor, AuditOrigin } from './core/audit/audit.ts'
export type { AuditedField, AuditScalar } from './core/audit/changed.ts'
export { type BuiltInInputs, email, push, slack, sms, webhook } from './core/channels/built-in.ts'
export { type ChannelKind, defineChannel } from './core/channels/channel-kind.ts'
export {
  type ChannelOption,
  type ChannelOptions,
  type ChannelProviders,
  type OrderedProviders,
  type OrganizationProviders,
  type PerOrganization,
  perOrganization,
  type WeightedProviders,
} from './core/channels/channel-option.ts'
export type { EmailKind } from './core/channels/email.ts'
export type {
  AttachedUpload,
  Attachment,
  AttachmentContent,
  AttachmentFromFile,
  AttachmentFromUpload,
  AttachmentInput,
  AttachmentRecord,
  AttachmentWithContent,
  CalendarContent,
  CalendarMethod,
  EmailContent,
  EmailInput,
  EmailParts,
  MailAddress,
  MailAddressInput,
  ShownEmail,
} from './core/channels/email-content.ts'
export type { LintFault, LintRule, LintSeverity } from './core/channels/lint.ts'
export type { PushContent, PushKind } from './core/channels/push.ts'
export type { SlackContent, SlackKind } from './core/channels/slack.ts'
export type { SmsContent, SmsKind } from './core/channels/sms.ts'
export type { SmsText } from './core/channels/sms-segments.ts'
export type { WebhookKind } from './core/channels/webhook.ts'
export type {
  EndpointEvent,
  EndpointEventType,
  LoggedEventType,
  WebhookEventType,
} from './core/delivery/endpoint-health.ts'
export type { EventHandler, HandedOver, PublishedEvent } from './core/delivery/listeners.ts'
export type { ProviderHealth, QueueHealth, WaitingLane } from './core/delivery/model.ts'
export type { RetryPolicy } from './core/delivery/retry-delay.ts'
export type { WebhookRequestRecord } from './core/delivery/webhook-request.ts'
export { ERRORS, type ErrorCode, type ErrorEntry } from './core/errors/catalogue.ts'
export { isNotifierError, NotifierError, type NotifierErrorOptions } from './core/errors/notifier-error.ts'
export type { Explanations, NotificationExplanations } from './core/explain/api.ts'
export type { ExplainedGate, Explanation } from './core/explain/model.ts'
export type { BoundsOptions } from './core/input/bounds.ts'
export type { JsonFields } from './core/input/json-fields.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from './core/input/standard-schema.ts'
export type { StartOptions, StopOptions } from './core/lifecycle/api.ts'
export type { NotifierInternals, Served } from './core/lifecycle/notifier-internals.ts'
export type { Limits } from './core/limits/api.ts'
export {
  type MemoryRateLimiterOptions,
  memoryRateLimiter,
} from './core/limits/memory-rate-limiter.ts'
export type { AccountLimits, LimitUsage, StoredUsage } from './core/limits/model.ts'
export type { OverusePolicy } from './core/limits/request-limits.ts'
export type { PageOptions } from './core/links/page-options.ts'
export type { PageTexts, PageTextsByLanguage } from './core/links/page-texts.ts'
export type { Logs } from './core/notification/api.ts'
export type { CategoryRecord } from './core/notification/category.ts'
export type { Cells } from './core/notification/cells.ts'
export type {
  NotificationCancelledEvent,
  NotificationEvent,
  NotificationEventData,
  NotificationFailedEvent,
  NotificationSkippedEvent,
} from './core/notification/event-payload.ts'
export type { EventType, FactType } from './core/notification/facts.ts'
export type { FailureGroup, FailureGroups } from './core/notification/failure-groups.ts'
export type {
  GetNotificationOptions,
  LogQuery,
  LogRecord,
  NotificationQuery,
  NotificationRecord,
  NotificationSummary,
  TimelineRecord,
  WaitingRecord,
  WaitOptions,
} from './core/notification/model.ts'
export type {
  BodyFormat,
  NotificationFailure,
  NotificationStatus,
  Priority,
} from './core/notification/notification.ts'
export type {
  AboutNotification,
  AcceptedEvent,
  AttemptFailedEvent,
  AttemptStartedEvent,
  ProcessEvent,
} from './core/notification/process-event.ts'
export type {
  AboutProvider,
  ProviderPausedEvent,
  ProviderResumedEvent,
} from './core/notification/provider-event.ts'
export type { QuietHours, QuietWindow, Weekday } from './core/notification/quiet-hours.ts'
export type { MessageReceivedEvent, ReceivedMessage } from './core/notification/received-message.ts'
export type { RescheduleInput } from './core/notification/reschedule-input.ts'
export type { SuppressionReason } from './core/notification/suppression.ts'
export type { ListenerOf, NotifierEvents } from './core/observe/api.ts'
export type { HealthReport } from './core/observe/health.ts'
export type { CountRecord, DistributionRecord, MetricsSnapshot } from './core/observe/model.ts'
export type { SpanEnd, SpanStart, TelemetryFact } from './core/observe/telemetry.ts'
export type { Clock } from './core/ports/clock.ts'
export type { LogFields, Logger } from './core/ports/logger.ts'
export type { BuiltInParts, Provider } from './core/ports/provider.ts'
export type { Queue } from './core/ports/queue.ts'
export type { RateLimiter } from './core/ports/rate-limiter.ts'
export type { Storage } from './core/ports/storage/storage.ts'
export type {
  Backlog,
  LaneBacklog,
  ProviderActivity,
  Span,
  Telemetry,
  TelemetrySource,
} from './core/ports/telemetry.ts'
export type { List, ListQuery } from './core/records/list.ts'
export type { Branding } from './core/tenancy/organization.ts'
export { type Plan, type Plans, perMinutePlans, perSecondPlans } from './core/tenancy/plans.ts'
export type { OwnRetention, PlanRetention, RetentionSource } from './core/tenancy/retention.ts'
export type { DiffHunk, DiffLine } from './core/text/diff-lines.ts'
export type { DraftChange, PublishOptions } from './core/text/draft-input.ts'
export type { TemplateChange, TemplateInput } from './core/text/input.ts'
export type {
  ListedTemplate,
  TemplateComparison,
  TemplateDraftRecord,
  TemplatePreview,
  TemplateRecord,
  TemplateVersionRecord,
  VariantRecord,
} from './core/text/model.ts'
export type { PreviewOptions, TemplateDraft } from './core/text/preview-input.ts'
export type { RenderedMessage } from './core/text/render.ts'
export type { MessageValue, Translate } from './core/text/translate.ts'
export type { VariantInput, VariantsInput } from './core/text/variants-input.ts'
export { createNotifier } from './create-notifier.ts'
export type { ApiKeys, KeyVerification, OperatorKeys } from './features/api-keys/api.ts'
export type { ApiKeyInput } from './features/api-keys/input.ts'
export type { CreatedApiKey, CreatedOperatorKey, KeyRotation } from './features/api-keys/model.ts'
export type { Attachments } from './features/attachments/api.ts'
export type { UploadContent, UploadInput, UploadRecord } from './features/attachments/model.ts'
export type { AttachmentOptions } from './features/attachments/options.ts'
export type { Acting, AuditLog } from './features/audit/api.ts'
export type { AuditEntry, AuditLogQuery } from './features/audit/model.ts'
export type { Categories } from './features/categories/api.ts'
export type {
  CategoryChange,
  CategoryDefault,
  CategoryInput,
  CategorySettings,
} from './features/categories/input.ts'
export {
  type DefinedTemplates,
  defineTemplates,
  type ReactNodeLike,
  type TemplateDefinition,
  type TemplateTexts,
  type TemplateVariantDefinition,
  type TextContext,
  type TextFunction,
  type TranslatedContext,
} from './features/code-templates/define.ts'
export type { PeopleApi } from './features/custody/api.ts'
export type {
  EraseOptions,
  ErasureCounts,
  ErasureRecord,
  ExportedLine,
  ExportOptions,
  PersonInput,
} from './features/custody/model.ts'
export type { DeadLetters } from './features/failures/api.ts'
export type { DeadLetterFilter, RetryInput } from './features/failures/input.ts'
export type { DeadLetterGroupQuery, DeadLetterQuery, RetryResult } from './features/failures/model.ts'
export type { Catalogues } from './features/languages/api.ts'
export type { CatalogueInput } from './features/languages/input.ts'
export type {
  CatalogueRecord,
  CatalogueSummary,
  MissingInLocale,
  MissingTranslations,
} from './features/languages/model.ts'
export type { SharedTexts } from './features/layouts/api.ts'
export type { SharedSourceInput, SharedTextChange, SharedTextInput } from './features/layouts/input.ts'
export type { SharedTextRecord, SharedTextVersionRecord } from './features/layouts/model.ts'
export type { LintOptions } from './features/lint/input.ts'
export type { LintFinding, LintSource, TemplateLint } from './features/lint/model.ts'
export type { Organizations } from './features/organizations/api.ts'
export type {
  BrandingInput,
  OrganizationChange,
  OrganizationInput,
  RetentionInput,
} from './features/organizations/input.ts'
export type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationQuery,
  OrganizationRecord,
  PlanRecord,
} from './features/organizations/model.ts'
export type { PreferencesApi } from './features/preferences/api.ts'
export type { CellsInput, PreferencesInput, PreferencesOf } from './features/preferences/input.ts'
export type { PreferencesRecord } from './features/preferences/model.ts'
export type { People, Person, RecipientOptions } from './features/recipients/options.ts'
export type { Refusals } from './features/refusals/api.ts'
export type { Refusal, RefusalQuery } from './features/refusals/model.ts'
export type { RetentionApi } from './features/retention/api.ts'
export type { RetentionCount, RetentionPreview } from './features/retention/model.ts'
export type { StatisticsApi } from './features/statistics/api.ts'
export type {
  Period,
  ProviderError,
  ProviderStatistics,
  SpanRecord,
  Statistics,
  StatisticsQuery,
} from './features/statistics/model.ts'
export type { Suppressions } from './features/suppressions/api.ts'
export type { SuppressionInput, SuppressionTarget } from './features/suppressions/input.ts'
export type { SuppressionQuery, SuppressionRecord } from './features/suppressions/model.ts'
export type { EventListening, ListenOptions, Webhooks } from './features/webhook-events/api.ts'
export type { WebhookEndpointChange, WebhookEndpointInput } from './features/webhook-events/input.ts'
export type {
  CreatedWebhookEndpoint,
  LastAttemptRecord,
  NotificationDeliveryRecord,
  WebhookAttemptRecord,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
} from './features/webhook-events/model.ts'
export type { MultiTenantNotifier, Notifier } from './notifier.ts'
export type {
  DeliveryOptions,
  EmailOptions,
  MultiTenantOptions,
  NotifierOptions,
  RetentionOptions,
  SmsOptions,
  WebhookEventOptions,
} from './options.ts'
export type { ProxyOptions } from './outgoing/proxy.ts'
export type { NotificationsApi, TemplatesApi, Tenant } from './tenant.ts'
export type { AuthoringOptions } from './text-options.ts'
