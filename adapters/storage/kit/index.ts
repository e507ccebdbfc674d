export { admittedOf, countedOf } from '../../../src/domain/admit.ts'
export { beginningLanes } from '../../../src/domain/beginning-lanes.ts'
export { decodeCursor, encodeCursor } from '../../../src/domain/cursor.ts'
export {
  type EndpointAttempt,
  type EndpointEvent,
  type EndpointEventType,
  type EndpointHealth,
  type EndpointVerdict,
  endpointEvent,
  endpointEventId,
  healed,
  judgeEndpoint,
  NEW_HEALTH,
  type WebhookEventType,
} from '../../../src/domain/endpoint-health.ts'
export type { ErrorCode } from '../../../src/domain/errors/catalogue.ts'
export { NotifierError, type NotifierErrorOptions } from '../../../src/domain/errors/notifier-error.ts'
export {
  eventId,
  eventPayload,
  type NotificationEvent,
  type NotificationEventData,
  type NotificationFailedEvent,
  type NotificationSkippedEvent,
} from '../../../src/domain/event-payload.ts'
export { COUNTED_AS, type EventType, type Fact, type FactType } from '../../../src/domain/facts.ts'
export { type GivenLabels, type LabelFilter, type Labels, matchesLabels } from '../../../src/domain/labels.ts'
export { LONGEST_LEASE_MS } from '../../../src/domain/lease.ts'
export { lostAttempt, lostPost } from '../../../src/domain/lost-attempt.ts'
export type {
  NewNotification,
  Notification,
  NotificationContent,
  NotificationFailure,
  NotificationStatus,
  Priority,
  TemplateReference,
} from '../../../src/domain/notification.ts'
export {
  beginDeletion,
  OPEN,
  type OrganizationValue,
  organizationKind,
  unknownOrganization,
} from '../../../src/domain/organization.ts'
export { type OwnProviderEvent, providerEventId } from '../../../src/domain/provider-event.ts'
export {
  type MessageReceivedEvent,
  type ReceivedMessage,
  receivedEvent,
  receivedEventId,
} from '../../../src/domain/received-message.ts'
export { type FactState, type RecordedEvent, recordFacts } from '../../../src/domain/record-facts.ts'
export type { RecordKind } from '../../../src/domain/record-kind.ts'
export { type Rescheduled, rescheduled } from '../../../src/domain/reschedule.ts'
export { createRetryPlan, type RetryPlan } from '../../../src/domain/retry-plan.ts'
export { REMOVED } from '../../../src/domain/sensitive.ts'
export { type SlotShare, shareSlots } from '../../../src/domain/share-slots.ts'
export { createSlotDivider, type Division, type SlotDivider } from '../../../src/domain/slot-divider.ts'
export type { Fold, Handover } from '../../../src/domain/status.ts'
export { type StoredContent, storedContent } from '../../../src/domain/stored-content.ts'
export { type UploadValue, uploadGone, uploadKind } from '../../../src/domain/upload.ts'
export type { Clock } from '../../../src/ports/clock.ts'
export type { JobRef, TransactionalQueue } from '../../../src/ports/queue.ts'
export type {
  AcceptAnswer,
  AcceptReads,
  AcceptRequest,
  IdempotencyContent,
  IdempotencyKey,
  IdempotencyRecord,
  JoinedAccept,
  JoinedTransaction,
} from '../../../src/ports/storage/accept.ts'
export type { Backlog, LaneBacklog } from '../../../src/ports/storage/backlog.ts'
export type {
  ClaimAnswer,
  ClaimedDelivery,
  ClaimedJob,
  ClaimedNotification,
  ClaimRequest,
  LaneDemand,
  LeaseRef,
  SharedSlots,
  StartRef,
} from '../../../src/ports/storage/claim.ts'
export type { BeginDeletion, DeletionRepository, PurgeAnswer } from '../../../src/ports/storage/deletions.ts'
export type {
  ExpireAnswer,
  ExpiredKind,
  ExpiredReceipt,
  ExpireRequest,
  ExpiringNotifications,
  ExpiringRest,
} from '../../../src/ports/storage/expire.ts'
export type {
  LogCounts,
  LogEntry,
  LogFilter,
  LogRepository,
  LogSpan,
} from '../../../src/ports/storage/logs.ts'
export type {
  CancelAnswer,
  Failure,
  FailureSpan,
  JobState,
  NotificationFilter,
  NotificationRepository,
  NotificationState,
  RescheduleAnswer,
  RetryAnswer,
  RetryRequest,
  TimelineEntry,
  Waiting,
} from '../../../src/ports/storage/notifications.ts'
export type { Page, PageRequest } from '../../../src/ports/storage/page.ts'
export type {
  ConsentReport,
  MessageReport,
  ReceiptAnswer,
  ReceiptRecord,
} from '../../../src/ports/storage/receipts.ts'
export type {
  FollowingWrite,
  KeepingInsert,
  RecordBudget,
  RecordInsert,
  RecordRef,
  RecordRemoval,
  RecordReplacement,
  Records,
  RecordWrite,
  StoredRecord,
  WriteAnswer,
} from '../../../src/ports/storage/records.ts'
export type { SettleAnswer, Settlement } from '../../../src/ports/storage/settle.ts'
export type { Follow, JobSink, Storage, StorageStart } from '../../../src/ports/storage/storage.ts'
export type {
  DeliveryAttempt,
  DeliveryFilter,
  EndpointDelivery,
  LoggedAttempt,
  NewWebhookEndpoint,
  Redelivery,
  SecretRotation,
  SentRequest,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRepository,
} from '../../../src/ports/storage/webhook-endpoints.ts'
export { type ClaimedRow, toClaimedNotification } from '../rows/claimed.ts'
export {
  type BacklogRow,
  type CountedRow,
  toBacklog,
  toLogCounts,
  toWaiting,
  type WaitingRow,
} from '../rows/counts.ts'
export { type FactColumns, factColumns, toFactState } from '../rows/facts.ts'
export { type FailureRow, toFailure } from '../rows/failure.ts'
export { type LabelColumns, labelColumns, toLabels } from '../rows/labels.ts'
export { type LogRow, toLogEntry } from '../rows/log-entry.ts'
export {
  type AcceptRow,
  acceptedStatus,
  type EventRow,
  toNotification,
  toTimeline,
  type WholeRow as NotificationRow,
} from '../rows/notification.ts'
export {
  assertKind,
  bytesOf,
  defaultOrganization,
  hasFields,
  type RecordColumns,
  type RecordRow,
  recordColumns,
  toRecord,
} from '../rows/record.ts'
export { type EndpointRow, rotatedSecrets, toEndpoint } from '../rows/webhook-endpoint.ts'
export { toPage } from '../to-page.ts'
