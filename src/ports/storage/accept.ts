import type { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { NewNotification } from '../../domain/notification.ts'
import type { NotificationRepository } from './notifications.ts'
import type { OrganizationRepository } from './organizations.ts'
import type { SuppressionRepository } from './suppressions.ts'
import type { TemplateRepository } from './templates.ts'

/** One send, or one batch. */
export interface AcceptRequest {
  readonly organizationId: string
  /** In the order in which they were sent; a batch's rejected items are not among them. */
  readonly notifications: readonly NewNotification[]
  readonly idempotency?: (IdempotencyKey & IdempotencyContent) | undefined
  /** The monthly quota; absent: unlimited and not counted. */
  readonly quota?: { readonly period: string; readonly limit: number } | undefined
  /** Answers as if the request were stored, and stores nothing. */
  readonly dryRun?: boolean | undefined
}

/**
 * What an idempotency record keeps. None is kept when the quota refused every notification of the request: nothing
 * was done that a repetition could do twice.
 */
export interface IdempotencyContent {
  /** Hash of the canonical request; another one under the same key is a conflict. */
  readonly fingerprint: string
  /** Opaque to the storage: what the service needs to reproduce the answer. */
  readonly result: string
  /** How long the record is kept, from its commit. */
  readonly ttlMs: number
}

export interface IdempotencyRecord {
  readonly fingerprint: string
  readonly result: string
  /** How many of the request's notifications were admitted. */
  readonly admitted: number
  /** When they were; epoch milliseconds. */
  readonly createdAt: number
}

export type AcceptAnswer =
  | {
      readonly kind: 'accepted'
      /** The first `admitted` notifications are stored; the others met the quota. */
      readonly admitted: number
      /** The storage's time of the commit, and `createdAt` of every notification in it. */
      readonly createdAt: number
    }
  /** The key was used before; compare its fingerprint. Nothing was stored now. */
  | { readonly kind: 'replayed'; readonly record: IdempotencyRecord }
  /**
   * This request alone could not be stored; the others of the set were. `not_found`: no such organization.
   * `already_exists`: one of its ids is taken.
   */
  | { readonly kind: 'failed'; readonly error: NotifierError }

/** An open transaction of a caller's, for one accept. */
export interface JoinedTransaction {
  /**
   * Look-ups inside of it, so that a caller who holds a connection never waits for another one of the same pool. Absent:
   * looking up takes no connection of its own.
   */
  readonly reads?: AcceptReads
  /** Stores one request in it, and answers as the storage's `accept` does. What it answers holds if it is committed. */
  accept(request: AcceptRequest): Promise<JoinedAccept>
}

/** The answer to a request that was stored in a transaction of the caller's. */
export interface JoinedAccept {
  readonly answer: AcceptAnswer
  /**
   * What became of it: true when it is committed, false when it was rolled back or nobody will know (the storage was
   * stopped before). Never rejects.
   */
  readonly committed: Promise<boolean>
}

/** What is looked up of a request before it is accepted. */
export interface AcceptReads {
  /** As that of the storage. */
  findIdempotent(keys: readonly IdempotencyKey[]): Promise<(IdempotencyRecord | null)[]>
  readonly notifications: Pick<NotificationRepository, 'get'>
  readonly organizations: Pick<OrganizationRepository, 'get'>
  readonly suppressions: Pick<SuppressionRepository, 'match'>
  readonly templates: Pick<TemplateRepository, 'find'>
}

/** Names an idempotency record: never the path or the API key. */
export interface IdempotencyKey {
  readonly organizationId: string
  readonly operation: 'send' | 'batch' | 'resend'
  /** 1 to 255 visible ASCII characters. */
  readonly key: string
}
