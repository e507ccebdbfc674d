import type { NotificationStatus } from '../../core/notification/notification.ts'
import type { Joined, JoinedTransaction } from '../../core/ports/storage/accept.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { skippable, type TestApi } from '../test-api.ts'
import { witnessed } from '../witness.ts'
import { CONTRACT_START } from './record-fixtures.ts'

/** A storage under test, started and empty except for `org_default`. */
export interface StorageHarness {
  readonly storage: Storage
  /** Advances the storage's time. */
  advance(ms: number): Promise<void> | void
  /** Reads stored data independently of the storage's methods. */
  readonly secondDoor: SecondDoor
  /** Opens the same data as another process would; the caller starts and stops it. Absent: the storage cannot. */
  another?(): Promise<Storage> | Storage
  /**
   * Makes the next commit of `storage` fail: the database stores nothing of it, and says so or does not answer. Returns
   * a function that tells whether such a commit has come. Absent: the harness cannot.
   */
  failNextCommit?(): () => boolean
  /**
   * Loses the answer to the next commit of `storage`, which the database has stored. Returns the same. Absent: the
   * harness cannot, or a commit is a call within this process, whose answer cannot be lost.
   */
  loseCommitAnswer?(): () => boolean
  /**
   * Number of rows that a page of a filtered list examines beyond its offset: the contract stores matches where such a page
   * ends. Absent: every page examines all rows.
   */
  readonly examines?: number
  /**
   * All that the storage keeps, as one text: the raw file after a checkpoint and VACUUM, or a dump. Absent: the harness
   * cannot, so that nothing proves an erasure.
   */
  dump?(): Promise<string> | string
  /** Transactions of a caller. Absent: the storage shares none. */
  readonly transactions?: CallerTransactions
  /** Releases what {@link create} opened, after the storage has stopped. */
  close?(): Promise<void> | void
}

/** An application with its own rows in the storage's database. */
export interface CallerTransactions {
  /** Writes a row and makes one call in one transaction, and commits it. */
  commit<Answer>(call: JoinedCall<Answer>, row: string): Promise<Joined<Answer>>
  /** The same, and rolls it back. */
  rollBack(call: JoinedCall<unknown>, row: string): Promise<void>
  /** All rows, in any order. */
  rows(): Promise<string[]>
  /**
   * Begins a transaction, writes a row in it, joins it, and leaves it open. Absent: a transaction ends with its call.
   */
  begin?(row: string): Promise<OpenTransaction>
}

/** The call of a check inside a caller's transaction, for example an accept. */
export type JoinedCall<Answer> = (joined: JoinedTransaction) => Promise<Joined<Answer>>

/** A caller's transaction until its end. */
export interface OpenTransaction {
  /** As the storage's `join` returned it. */
  readonly joined: JoinedTransaction
  commit(): Promise<void>
  rollBack(): Promise<void>
}

/** Raw reads, each of a whole table, in any order. */
export interface SecondDoor {
  notifications(): Promise<StoredNotificationRow[]>
  jobs(): Promise<StoredJobRow[]>
  /** Without accepts, which may be derived. */
  events(): Promise<StoredEventRow[]>
  deliveries(): Promise<StoredDeliveryRow[]>
  /** Also records that have expired. */
  idempotency(): Promise<StoredIdempotencyRow[]>
  /** Number of rows that depend on others. */
  dependents(): Promise<StoredDependents>
  /**
   * Number of rows of an organization, its own included, by kind, under any names; kinds without rows are omitted.
   * Records of every `RecordKind` count; rows without an organization (idempotency, receipts) do not.
   */
  owned(organizationId: string): Promise<Readonly<Record<string, number>>>
}

export interface StoredDependents {
  readonly handovers: number
  /** Log lines of webhook deliveries, also of removed ones. */
  readonly deliveryAttempts: number
  /** Keys that deduplicate receipts. */
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
  /** Log lines of its deliveries. */
  readonly attempts: number
}

export interface StoredIdempotencyRow {
  readonly fingerprint: string
  readonly admitted: number
}

/** Declares a test with its own storage. */
export type Check = (title: string, run: (harness: StorageHarness) => Promise<void>) => void

export function checkWith(test: TestApi, create: () => Promise<StorageHarness>): Check {
  return function check(title, run) {
    skippable(test)(title, async () => {
      const harness = await create()
      try {
        await witnessed(harness, [], async (watched) => {
          await watched.storage.start(CONTRACT_START)
          await run(watched)
        })
      } finally {
        await harness.storage.stop()
        await harness.close?.()
      }
    })
  }
}
