import type { NotificationStatus } from '../../domain/notification.ts'
import type { AcceptRequest, JoinedAccept } from '../../ports/storage/accept.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { skippable, type TestApi } from '../test-api.ts'

/** A storage under test, started and empty but for `org_default`. */
export interface StorageHarness {
  readonly storage: Storage
  /** Lets the storage's own time go by. */
  advance(ms: number): Promise<void> | void
  /** Reads what was stored by another way than the storage's own methods. */
  readonly secondDoor: SecondDoor
  /** Transactions of a caller's; absent: the storage shares none. */
  readonly transactions?: CallerTransactions
  /** Releases what {@link create} opened; the storage has been stopped. */
  close?(): Promise<void> | void
}

/** An application that keeps rows of its own in the storage's database. */
export interface CallerTransactions {
  /** Writes a row and accepts a request in one transaction, and commits it. */
  commit(request: AcceptRequest, row: string): Promise<JoinedAccept>
  /** The same, and rolls it back. */
  rollBack(request: AcceptRequest, row: string): Promise<void>
  /** The rows that are there, in any order. */
  rows(): Promise<string[]>
}

/** Raw reads, each of the whole table. Order does not matter. */
export interface SecondDoor {
  notifications(): Promise<StoredNotificationRow[]>
  jobs(): Promise<StoredJobRow[]>
  /** Without the accepts, which may be derived. */
  events(): Promise<StoredEventRow[]>
  deliveries(): Promise<StoredDeliveryRow[]>
  /** Also records that have expired. */
  idempotency(): Promise<StoredIdempotencyRow[]>
  /** How many rows there are of what hangs on the others. */
  dependents(): Promise<StoredDependents>
  /**
   * How many rows there are of an organization, its own included, by any names of their kinds; kinds without any are left out.
   * A template's versions are a kind, too; records without an organization in them (idempotency, receipts) are none.
   */
  owned(organizationId: string): Promise<Readonly<Record<string, number>>>
}

export interface StoredDependents {
  readonly handovers: number
  /** Lines of the delivery logs of endpoints, those of deliveries that are gone too. */
  readonly deliveryAttempts: number
  /** Keys by which receipts are deduplicated. */
  readonly receipts: number
  readonly unmatchedReceipts: number
}

export interface StoredNotificationRow {
  readonly id: string
  readonly organizationId: string
  readonly status: NotificationStatus
}

export interface StoredJobRow {
  readonly id: string
  readonly lane: string
  readonly organizationId: string
  readonly state: 'ready' | 'waiting' | 'leased' | 'recovered'
  readonly attempts: number
}

export interface StoredEventRow {
  readonly notificationId: string
  readonly sequence: number
  readonly type: string
  readonly status: NotificationStatus
}

export interface StoredDeliveryRow {
  readonly eventId: string
  readonly endpointId: string
  readonly state: 'pending' | 'delivered' | 'failed' | 'held'
  /** Lines of its delivery log. */
  readonly attempts: number
}

export interface StoredIdempotencyRow {
  readonly fingerprint: string
  readonly admitted: number
}

/** Declares one test that gets a storage of its own. */
export type Check = (title: string, run: (harness: StorageHarness) => Promise<void>) => void

export function checkWith(test: TestApi, create: () => Promise<StorageHarness>): Check {
  return function check(title, run) {
    skippable(test)(title, async () => {
      const harness = await create()
      try {
        await run(harness)
      } finally {
        await harness.storage.stop()
        await harness.close?.()
      }
    })
  }
}
