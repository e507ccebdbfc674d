export { admittedOf, countedOf } from '../../../src/core/accept/admit.ts'
export { type UploadValue, uploadGone, uploadKind } from '../../../src/core/accept/upload.ts'
export { beginningLanes } from '../../../src/core/delivery/beginning-lanes.ts'
export {
  decideEndpoint,
  type EndpointAttempt,
  type EndpointDecision,
  type EndpointHealth,
  endpointEvent,
  endpointEventId,
  healed,
  NEW_HEALTH,
  TEST_EVENT_TYPE,
} from '../../../src/core/delivery/endpoint-health.ts'
export { LONGEST_LEASE_MS } from '../../../src/core/delivery/lease.ts'
export { isListener } from '../../../src/core/delivery/listeners.ts'
export { cancellation } from '../../../src/core/notification/cancellation.ts'
export { ERASED_ADDRESS } from '../../../src/core/notification/erased-fact.ts'
export { erasedAttempt, erasedContent, erasedPayload } from '../../../src/core/notification/erasure.ts'
export { eventId, eventPayload } from '../../../src/core/notification/event-payload.ts'
export { COUNTED_AS, type Fact } from '../../../src/core/notification/facts.ts'
export {
  type LabelFilter,
  type Labels,
  matchesLabels,
  type PartialLabels,
} from '../../../src/core/notification/labels.ts'
export { lostAttempt, lostPost } from '../../../src/core/notification/lost-attempt.ts'
export { lowerAddress } from '../../../src/core/notification/lower-address.ts'
export type {
  DelayedFor,
  NewNotification,
  Notification,
  NotificationContent,
  TemplateReference,
} from '../../../src/core/notification/notification.ts'
export { type OwnProviderEvent, providerEventId } from '../../../src/core/notification/provider-event.ts'
export { receivedEvent, receivedEventId } from '../../../src/core/notification/received-message.ts'
export {
  type FactState,
  type RecordedEvent,
  recordFacts,
  reportedTo,
} from '../../../src/core/notification/record-facts.ts'
export { type Rescheduled, rescheduled } from '../../../src/core/notification/reschedule.ts'
export { createRetryPlan, type RetryPlan } from '../../../src/core/notification/retry-plan.ts'
export { expiredContent, REMOVED } from '../../../src/core/notification/sensitive.ts'
export type { Fold, Handover } from '../../../src/core/notification/status.ts'
export { type StoredContent, storedContent } from '../../../src/core/notification/stored-content.ts'
export type {
  AcceptAnswer,
  AcceptReads,
  AcceptRequest,
  IdempotencyContent,
  IdempotencyKey,
  IdempotencyRecord,
  Joined,
  JoinedReads,
  JoinedTransaction,
  JoinedWrite,
} from '../../../src/core/ports/storage/accept.ts'
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
} from '../../../src/core/ports/storage/claim.ts'
export type {
  CustodyRepository,
  EraseAnswer,
  EraseCopiesRequest,
  ErasedStep,
  EraseRequest,
  ReportsPage,
  ReportsRequest,
  StoredReport,
} from '../../../src/core/ports/storage/custody.ts'
export type {
  BeginDeletion,
  DeletionRepository,
  PurgeAnswer,
} from '../../../src/core/ports/storage/deletions.ts'
export type {
  ExpireAnswer,
  ExpiredKind,
  ExpiredReceipt,
  ExpireRequest,
  ExpiringContents,
  ExpiringNotifications,
  ExpiringRest,
} from '../../../src/core/ports/storage/expire.ts'
export type { JobCount, JobCounts, JobsOf } from '../../../src/core/ports/storage/job-counts.ts'
export type {
  LogCounts,
  LogEntry,
  LogFilter,
  LogRepository,
  LogSpan,
} from '../../../src/core/ports/storage/logs.ts'
export type {
  CancelAnswer,
  DelayedOf,
  Failure,
  FailureSpan,
  JudgeAgainAnswer,
  JudgeAgainRequest,
  NotificationFilter,
  NotificationRepository,
  NotificationState,
  RescheduleAnswer,
  RetryAnswer,
  RetryRequest,
  TimelineEntry,
} from '../../../src/core/ports/storage/notifications.ts'
export type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
export type {
  ConsentReport,
  MessageReport,
  ReceiptAnswer,
  ReceiptRecord,
} from '../../../src/core/ports/storage/receipts.ts'
export type {
  DueAnswer,
  DueRecord,
  DueRequest,
  FollowingWrite,
  KeepingInsert,
  RecordBudget,
  RecordInsert,
  RecordRef,
  RecordRemoval,
  RecordReplacement,
  Records,
  RecordWrite,
  RefusedWrite,
  StoredRecord,
  WriteAnswer,
} from '../../../src/core/ports/storage/records.ts'
export type { SettleAnswer, Settlement } from '../../../src/core/ports/storage/settle.ts'
export type { Follow, JobSink, StorageStart } from '../../../src/core/ports/storage/storage.ts'
export type {
  DeliveryAttempt,
  DeliveryFilter,
  EndpointChange,
  EndpointDelivery,
  LoggedAttempt,
  NewWebhookEndpoint,
  Redelivery,
  SecretRotation,
  SentRequest,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointRepository,
} from '../../../src/core/ports/storage/webhook-endpoints.ts'
export { decodeCursor, encodeCursor } from '../../../src/core/records/cursor.ts'
export { firstIdAt } from '../../../src/core/records/ids.ts'
export type { RecordKind } from '../../../src/core/records/record-kind.ts'
export { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
export {
  beginDeletion,
  OPEN,
  type OrganizationValue,
  organizationKind,
  unknownOrganization,
} from '../../../src/core/tenancy/organization.ts'
export { commitLookup } from '../commit-lookup.ts'
export { idKey, idOf } from '../id-order.ts'
export { type LaneTurns, pickFairly, type ReadyJobs, readyJobs } from '../pick-fairly.ts'
export { type ClaimedRow, toClaimedNotification } from '../rows/claimed.ts'
export { type CountedRow, toLogCounts } from '../rows/counts.ts'
export { erasedColumns, erasedErrorText, erasedFactText } from '../rows/erased.ts'
export { type FactColumns, type FactRow, factColumns, toFactState } from '../rows/facts.ts'
export { type FailureRow, toFailure } from '../rows/failure.ts'
export { type LabelColumns, labelColumns, toLabels } from '../rows/labels.ts'
export { type LogRow, toLogEntry } from '../rows/log-entry.ts'
export {
  type AcceptRow,
  acceptedStatus,
  type EventRow,
  type FilteredRow,
  matchesFilter,
  toNotification,
  toTimeline,
  type WholeRow as NotificationRow,
} from '../rows/notification.ts'
export {
  assertKind,
  bytesOf,
  defaultOrganization,
  dueLeaseMs,
  dueOf,
  hasFields,
  type RecordColumns,
  type RecordRow,
  recordColumns,
  toRecord,
} from '../rows/record.ts'
export { type EndpointRow, rotatedSecrets, toEndpoint } from '../rows/webhook-endpoint.ts'
export { type Scan, scanPage } from '../scan-page.ts'
export { toPage } from '../to-page.ts'
