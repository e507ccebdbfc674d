export type { BuiltInInputs } from './channels/built-in.ts'
export { email, push, slack, sms, webhook } from './channels/built-in.ts'
export type { EmailKind } from './channels/email.ts'
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
} from './channels/email-content.ts'
export type { PushContent, PushKind } from './channels/push.ts'
export type { SlackContent, SlackKind } from './channels/slack.ts'
export type { SmsContent, SmsKind } from './channels/sms.ts'
export type { SmsText } from './channels/sms-segments.ts'
export type { WebhookKind } from './channels/webhook.ts'
export { createNotifier } from './create-notifier.ts'
export type { MemoryRateLimiterOptions } from './defaults/rate-limiter/memory-rate-limiter.ts'
export { memoryRateLimiter } from './defaults/rate-limiter/memory-rate-limiter.ts'
export type { Grant, Permission } from './domain/api-key.ts'
export type { BoundsOptions } from './domain/bounds.ts'
export type {
  BodySource,
  ChannelKind,
  ChannelLint,
  JudgedMessage,
  LintedText,
  OrganizationLimits,
  PartLinks,
  RecipientFault,
  StoredParts,
} from './domain/channel-kind.ts'
export { defineChannel } from './domain/channel-kind.ts'
export type { DiffHunk, DiffLine } from './domain/diff-lines.ts'
export type { EndpointEvent, EndpointEventType, WebhookEventType } from './domain/endpoint-health.ts'
export type { ErrorCode, ErrorEntry } from './domain/errors/catalogue.ts'
export { ERRORS } from './domain/errors/catalogue.ts'
export type { NotifierErrorOptions } from './domain/errors/notifier-error.ts'
export { isNotifierError, NotifierError } from './domain/errors/notifier-error.ts'
export type {
  NotificationEvent,
  NotificationEventData,
  NotificationFailedEvent,
  NotificationSkippedEvent,
} from './domain/event-payload.ts'
export type { EventType, Fact, FactType } from './domain/facts.ts'
export type { ApiKeyInput } from './domain/input/api-key.ts'
export type { CatalogueInput } from './domain/input/catalogue.ts'
export type {
  CategoryChange,
  CategoryDefault,
  CategoryInput,
  CategorySettings,
} from './domain/input/category.ts'
export type {
  AnyTemplate,
  DeclaredTemplate,
  DeclaredTemplates,
} from './domain/input/declared-templates.ts'
export type { DraftChangeInput, PublishOptions } from './domain/input/draft.ts'
export type { BrandingInput, OrganizationInput } from './domain/input/organization.ts'
export type { CellsInput, PreferencesInput, PreferencesOf } from './domain/input/preferences.ts'
export type { LintOptions, PreviewOptions, TemplateDraft } from './domain/input/preview.ts'
export type { RescheduleInput } from './domain/input/reschedule.ts'
export type { DeadLetterFilterInput, RetryInput } from './domain/input/retry.ts'
export type { AnyChannel, ChannelParts, SendFields, SendInput } from './domain/input/send.ts'
export type {
  SharedSourceInput,
  SharedTextChange,
  SharedTextInput,
} from './domain/input/shared-text.ts'
export type { SuppressionInput, SuppressionTarget } from './domain/input/suppression.ts'
export type {
  TemplateChangeInput,
  TemplateInput,
} from './domain/input/template.ts'
export type { VariantInput, VariantsInput } from './domain/input/variants.ts'
export type { WebhookEndpointInput, WebhookEndpointUpdate } from './domain/input/webhook-endpoint.ts'
export type { JsonFields } from './domain/json-fields.ts'
export type {
  BodyFormat,
  NotificationFailure,
  NotificationStatus,
  Priority,
} from './domain/notification.ts'
export type { Branding } from './domain/organization.ts'
export type {
  Accepted,
  Ambiguous,
  FailureDetail,
  FaultScope,
  Outcome,
  RefusedCopy,
  Rejected,
  Retry,
} from './domain/outcome.ts'
export type { PageTexts, PageTextsByLanguage } from './domain/page-texts.ts'
export type { Plan, Plans } from './domain/plans.ts'
export { perMinutePlans, perSecondPlans } from './domain/plans.ts'
export type { Cells } from './domain/preferences/cells.ts'
export type {
  AboutNotification,
  AcceptedEvent,
  AttemptFailedEvent,
  AttemptStartedEvent,
  ProcessEvent,
} from './domain/process-event.ts'
export type { AboutProvider, ProviderPausedEvent, ProviderResumedEvent } from './domain/provider-event.ts'
export type { MessageReceivedEvent, ReceivedMessage } from './domain/received-message.ts'
export type { RecordKind } from './domain/record-kind.ts'
export type { RetryPolicy } from './domain/retry.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from './domain/standard-schema.ts'
export type { SuppressionReason } from './domain/suppression.ts'
export type { SpanEnd, SpanStart, TelemetryFact } from './domain/telemetry.ts'
export type {
  LintFault,
  LintFinding,
  LintRule,
  LintSeverity,
  LintSource,
} from './domain/template/lint/rules.ts'
export type { MessageValue, Translate } from './domain/template/translate.ts'
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
export type { Clock } from './ports/clock.ts'
export type { LogFields, Logger } from './ports/logger.ts'
export type { ProxyFor } from './ports/outgoing.ts'
export type {
  BuiltInParts,
  EarlierMessage,
  Message,
  MessageText,
  OpenContext,
  PartsRefusal,
  Provider,
  SendContext,
} from './ports/provider.ts'
export type { JobRef, Queue, QueueWorker, TransactionalQueue } from './ports/queue.ts'
export type {
  LimitCheck,
  LimitDecision,
  LimitState,
  PauseCheck,
  RateLimiter,
  SlotCheck,
  WindowCheck,
} from './ports/rate-limiter.ts'
export type {
  ConfirmedReceipts,
  ParsedReceipts,
  Receipt,
  ReceiptRequest,
  ReceivedText,
} from './ports/receipts.ts'
export type { Backlog, LaneBacklog } from './ports/storage/backlog.ts'
export type { Follow, Storage, StorageStart } from './ports/storage/storage.ts'
export type { ProviderActivity, Span, Telemetry, TelemetrySource } from './ports/telemetry.ts'
export type {
  BatchItem,
  BatchResult,
  ItemError,
  SentNotification,
  ValidatedSend,
} from './services/accept/records.ts'
export { API_KEY_PATTERN } from './services/api-keys/key-format.ts'
export type {
  ApiKeyRecord,
  CreatedApiKey,
  CreatedOperatorKey,
  KeyRotation,
  OperatorKeyRecord,
} from './services/api-keys/records.ts'
export type { AttachmentOptions } from './services/attachments/options.ts'
export type {
  Attachments,
  UploadContent,
  UploadInput,
  UploadRecord,
} from './services/attachments/tenant.ts'
export type { CategoryRecord } from './services/categories/records.ts'
export type {
  ChannelOption,
  ChannelOptions,
  ChannelProviders,
  OrderedProviders,
  OrganizationProviders,
  PerOrganization,
  WeightedProviders,
} from './services/channels/channel-option.ts'
export { perOrganization } from './services/channels/channel-option.ts'
export type {
  DefinedTemplates,
  ReactNodeLike,
  TemplateDefinition,
  TemplateTexts,
  TemplateVariantDefinition,
  TextContext,
  TextFunction,
  TranslatedContext,
} from './services/code-templates/define.ts'
export { defineTemplates } from './services/code-templates/define.ts'
export type { DeadLetterGroupQuery, DeadLetterQuery, RetryResult } from './services/dead-letters/records.ts'
export type { ProviderHealth, QueueHealth, WaitingLane } from './services/delivery/records.ts'
export type { Engine, Served } from './services/engine.ts'
export type { HealthReport } from './services/health.ts'
export type {
  CatalogueRecord,
  CatalogueSummary,
  MissingInLocale,
  MissingTranslations,
} from './services/languages/records.ts'
export type { Catalogues } from './services/languages/tenant.ts'
export type {
  AccountLimits,
  LimitUsage,
  StoredUsage,
} from './services/limits/records.ts'
export type { OverusePolicy } from './services/limits/request-limits.ts'
export type { List, ListQuery } from './services/list.ts'
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
} from './services/notifications/records.ts'
export type {
  ListenerOf,
  MultiTenantNotifier,
  Notifier,
  NotifierEvents,
  StartOptions,
  StopOptions,
} from './services/notifier.ts'
export type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationRecord,
} from './services/organizations/records.ts'
export type { PageOptions } from './services/page-texts.ts'
export type { PreferencesRecord } from './services/preferences/records.ts'
export type { People, Person, RecipientOptions } from './services/recipients/options.ts'
export type { RenderedMessage } from './services/render.ts'
export type { SharedTextRecord, SharedTextVersionRecord, TextUser } from './services/shared-texts/records.ts'
export type { SharedTexts } from './services/shared-texts/tenant.ts'
export type { FailureGroup, FailureGroups, HourRecord, Statistics } from './services/statistics/records.ts'
export type {
  SuppressionQuery,
  SuppressionRecord,
} from './services/suppressions/records.ts'
export type { CountRecord, DistributionRecord, MetricsSnapshot } from './services/telemetry/records.ts'
export type { AuthoringOptions } from './services/templates/options.ts'
export type {
  TemplateComparison,
  TemplateDraftRecord,
  TemplateLint,
  TemplatePreview,
  TemplateRecord,
  TemplateVersionRecord,
  VariantRecord,
} from './services/templates/records.ts'
export type { SendOptions, Tenant } from './services/tenant.ts'
export type {
  CreatedWebhookEndpoint,
  NotificationDeliveryRecord,
  WebhookAttemptRecord,
  WebhookDeliveryQuery,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  WebhookPostRecord,
  WebhookRequestRecord,
} from './services/webhook-endpoints/records.ts'
