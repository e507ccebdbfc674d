import type { NotifierError } from '../../errors/notifier-error.ts'
import type { NewNotification, NotificationContent } from '../../notification/notification.ts'
import type { JobCounts } from './job-counts.ts'
import type { CancelAnswer, NotificationRepository, RescheduleAnswer } from './notifications.ts'
import type { RecordInsert, RecordRemoval, Records, RecordWrite, RefusedWrite } from './records.ts'

/** One send or one batch. */
export interface AcceptRequest<Write extends RecordWrite = JoinedWrite> {
  readonly organizationId: string
  /** In the order of sending, without the rejected items of a batch. */
  readonly notifications: readonly NewNotification[]
  readonly idempotency?: (IdempotencyKey & IdempotencyContent) | undefined
  /** The monthly quota; `NewNotification.counted` leaves one out. Absent: unlimited and not counted. */
  readonly quota?: { readonly period: string; readonly limit: number } | undefined
  /**
   * Records to write in the same commit, as `Records.write` writes a set. With any, the quota admits all notifications or
   * none; without them, and for a replay, no record is written. A write that is refused refuses the request.
   */
  readonly records?: readonly Write[] | undefined
}

/** What a transaction of the caller may write: others need locks that accepts wait for. */
export type JoinedWrite =
  | (RecordInsert & { readonly budget?: undefined })
  | (RecordRemoval & {
      readonly only?: undefined
      readonly token?: undefined
      readonly unlessNamed?: undefined
    })

/**
 * Content of an idempotency record. If the quota refused every notification of the request, none is kept: a repetition
 * has no further effect.
 */
export interface IdempotencyContent {
  /** Hash of the canonical request. A different hash under the same key is a conflict. */
  readonly fingerprint: string
  /** Opaque to the storage: the data from which the service reproduces the answer. */
  readonly result: string
  /** Lifetime of the record from its commit, in milliseconds. */
  readonly ttlMs: number
}

export interface IdempotencyRecord {
  readonly fingerprint: string
  readonly result: string
  /** Number of admitted notifications of the request. */
  readonly admitted: number
  /** Time of the accept in epoch milliseconds. */
  readonly createdAt: number
}

export type AcceptAnswer =
  | {
      readonly kind: 'accepted'
      /**
       * The first `admitted` notifications are stored: the longest prefix of whole groups whose counted ones fit the
       * quota; of a request with records all, or none. It refused the others.
       */
      readonly admitted: number
      /** The storage's time of the commit: `createdAt` of every notification in it. */
      readonly createdAt: number
    }
  /** The key is in use: compare its fingerprint. Nothing was stored. */
  | { readonly kind: 'replayed'; readonly record: IdempotencyRecord }
  /**
   * Only this request failed; the others of the set are stored. `not_found`: unknown organization. `already_exists`:
   * one of its ids is taken. `unknown_attachment`: the organization has no upload of an id in `NewNotification.uploads`.
   */
  | { readonly kind: 'failed'; readonly error: NotifierError }
  /** One of its records was refused. Nothing of the request was stored. */
  | { readonly kind: 'refused'; readonly write: RefusedWrite }

/** An open transaction of the caller, for one call. */
export interface JoinedTransaction {
  /**
   * Lookups inside the transaction, so that a caller with a connection never waits for a second one of the same pool.
   * Absent: lookups need no connection.
   */
  readonly reads?: JoinedReads
  /**
   * Stores one request in the transaction and answers as the storage's `accept` does. The answer holds if the
   * transaction commits.
   */
  accept(request: AcceptRequest): Promise<Joined<AcceptAnswer>>
  /**
   * Cancels a notification in the transaction and answers as the storage's `notifications.cancel` does. Until the end of
   * the transaction, claims pass over the notification, and other changes of it may wait.
   *
   * `too_late` also if its job is leased, or is taken up after the end of its process, where other work would have to
   * wait. A refusal holds no lock.
   */
  cancel(id: string, content?: NotificationContent): Promise<Joined<CancelAnswer>>
  /** Reschedules a notification in the transaction: as {@link cancel}, with the answer of `notifications.reschedule`. */
  reschedule(id: string, sendAt: number | null): Promise<Joined<RescheduleAnswer>>
}

/** The answer to a call inside a transaction of the caller. */
export interface Joined<Answer> {
  readonly answer: Answer
  /**
   * True once the transaction is committed; false if nothing was stored, if it was rolled back, or if the storage
   * stopped before it ended. Never rejects.
   */
  readonly committed: Promise<boolean>
}

/** Lookups before an accept. */
export interface AcceptReads {
  /** Like the storage's method. */
  findIdempotent(keys: readonly IdempotencyKey[]): Promise<(IdempotencyRecord | null)[]>
  readonly notifications: Pick<NotificationRepository, 'get' | 'states'>
  readonly records: Pick<Records, 'get'>
}

/** Lookups inside a transaction of the caller. */
export interface JoinedReads extends AcceptReads {
  readonly notifications: Pick<NotificationRepository, 'get' | 'states' | 'timeline'>
  /** Like the storage's method. */
  countJobs(of: { readonly notificationId: string }, most: number): Promise<JobCounts>
}

/** Identifies an idempotency record. It includes neither the path nor the API key. */
export interface IdempotencyKey {
  readonly organizationId: string
  readonly operation: 'send' | 'batch' | 'resend'
  /** 1 to 255 visible ASCII characters. */
  readonly key: string
}
