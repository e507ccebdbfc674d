import { acceptChecks } from './storage/accept.ts'
import { acceptedRecordChecks } from './storage/accepted-records.ts'
import { addressChecks } from './storage/addresses.ts'
import { allOrganizationChecks } from './storage/all-organizations.ts'
import { begunClaimChecks } from './storage/begun-claims.ts'
import { boundedPageChecks } from './storage/bounded-pages.ts'
import { budgetChecks } from './storage/budgets.ts'
import { claimChecks } from './storage/claim.ts'
import { clockStepChecks } from './storage/clock-steps.ts'
import { commitChecks } from './storage/commits.ts'
import { contentChecks } from './storage/contents.ts'
import { copyChecks } from './storage/copies.ts'
import { countJobsChecks } from './storage/count-jobs.ts'
import { custodyChecks } from './storage/custody.ts'
import { delayChecks } from './storage/delays.ts'
import { deletionChecks } from './storage/deletions.ts'
import { deliveryChecks } from './storage/deliveries.ts'
import { dryRunChecks } from './storage/dry-runs.ts'
import { dueRecordChecks } from './storage/due-records.ts'
import { endpointAddressChecks } from './storage/endpoint-addresses.ts'
import { endpointHealthChecks } from './storage/endpoint-health.ts'
import { enqueueChecks } from './storage/enqueued-jobs.ts'
import { expiredContentChecks } from './storage/expired-contents.ts'
import { fairnessChecks } from './storage/fairness.ts'
import { followingWriteChecks } from './storage/following-writes.ts'
import { checkWith, type StorageHarness } from './storage/harness.ts'
import { idempotencyChecks } from './storage/idempotency.ts'
import { instanceChecks } from './storage/instances.ts'
import { joinedChangeChecks } from './storage/joined-changes.ts'
import { labelChecks } from './storage/labels.ts'
import { leaseChecks } from './storage/leases.ts'
import { lifecycleChecks } from './storage/lifecycle.ts'
import { logChecks } from './storage/logs.ts'
import { notificationChecks } from './storage/notifications.ts'
import { operatorEndpointChecks } from './storage/operator-endpoints.ts'
import { ownClockChecks } from './storage/own-clock.ts'
import { providerEventChecks } from './storage/provider-events.ts'
import { receiptChecks } from './storage/receipts.ts'
import { receivedMessageChecks } from './storage/received-messages.ts'
import { recordKindChecks, recordListChecks } from './storage/record-lists.ts'
import { recordChecks, recordRaceChecks } from './storage/records.ts'
import { rescheduleChecks } from './storage/reschedules.ts'
import { retentionChecks } from './storage/retention.ts'
import { retryChecks } from './storage/retry.ts'
import { settleChecks } from './storage/settle.ts'
import { skipChecks } from './storage/skips.ts'
import { statisticsChecks } from './storage/statistics.ts'
import { testEventChecks } from './storage/test-events.ts'
import { traceChecks } from './storage/traces.ts'
import { transactionChecks } from './storage/transactions.ts'
import { uploadChecks } from './storage/uploads.ts'
import { webhookChangeChecks } from './storage/webhook-changes.ts'
import { webhookEndpointChecks } from './storage/webhook-endpoints.ts'
import type { TestApi } from './test-api.ts'

/**
 * The contract of all storages: see docs/tasks/custom-storage.md.
 *
 * @param create makes a started, empty storage for one test; the contract stops it
 *
 * @example
 * storageContract(test, async () => {
 *   const { url, secondDoor, remove } = await createDatabase()
 *   let now = Date.now()
 *   const open = () => acmeStorage({ url, clock: { now: () => now } })
 *   return { storage: open(), another: open, secondDoor, advance: (ms) => void (now += ms), close: remove }
 * })
 */
export function storageContract(test: TestApi, create: () => Promise<StorageHarness>): void {
  const check = checkWith(test, create)
  lifecycleChecks(check)
  acceptChecks(check)
  idempotencyChecks(check)
  transactionChecks(check)
  joinedChangeChecks(check)
  claimChecks(check)
  fairnessChecks(check)
  leaseChecks(check)
  clockStepChecks(check)
  begunClaimChecks(check)
  settleChecks(check)
  deliveryChecks(check)
  testEventChecks(check)
  receiptChecks(check)
  followingWriteChecks(check)
  receivedMessageChecks(check)
  providerEventChecks(check)
  notificationChecks(check)
  boundedPageChecks(check)
  rescheduleChecks(check)
  delayChecks(check)
  logChecks(check)
  allOrganizationChecks(check)
  labelChecks(check)
  addressChecks(check)
  skipChecks(check)
  recordChecks(check)
  recordRaceChecks(check)
  recordListChecks(check)
  recordKindChecks(check)
  dueRecordChecks(check)
  acceptedRecordChecks(check)
  budgetChecks(check)
  deletionChecks(check)
  webhookEndpointChecks(check)
  webhookChangeChecks(check)
  operatorEndpointChecks(check)
  countJobsChecks(check)
  statisticsChecks(check)
  traceChecks(check)
  retryChecks(check)
  contentChecks(check)
  uploadChecks(check)
  retentionChecks(check)
  expiredContentChecks(check)
  dryRunChecks(check)
  custodyChecks(check)
  copyChecks(check)
  endpointHealthChecks(check)
  endpointAddressChecks(check)
  enqueueChecks(check)
  instanceChecks(check)
  ownClockChecks(check)
  commitChecks(check)
}
