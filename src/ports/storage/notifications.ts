import type { ChannelName } from '../../domain/channel.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { Fact } from '../../domain/facts.ts'
import type { Notification, NotificationStatus } from '../../domain/notification.ts'
import type { Page, PageRequest } from './page.ts'

export interface NotificationRepository {
  /** Any organization's, so that a caller can tell a foreign id from an unknown one; null: unknown. */
  get(id: string): Promise<Notification | null>
  /** Newest first. */
  list(filter: NotificationFilter, page: PageRequest): Promise<Page<Notification>>
  /** The whole history of one notification, in order, its accept first; empty: unknown. */
  timeline(id: string): Promise<readonly TimelineEntry[]>
  /**
   * Cancels, atomically against claims: only while no attempt has begun.
   * `too_late`: an attempt has begun. `ended`: it had ended before, a cancelled one too.
   */
  cancel(id: string): Promise<CancelAnswer>
}

export interface NotificationFilter {
  readonly organizationId: string
  readonly channel?: ChannelName | undefined
  readonly status?: NotificationStatus | undefined
  readonly to?: string | undefined
  /** Template id. */
  readonly templateId?: string | undefined
  /** Accepted at or after; epoch milliseconds. */
  readonly from?: number | undefined
  /** Accepted before; epoch milliseconds. */
  readonly until?: number | undefined
}

/** One event of a notification. The accept has the type `queued` or `scheduled`. */
export interface TimelineEntry {
  readonly sequence: number
  readonly type: Fact['type'] | 'queued' | 'scheduled'
  /** Public status after it. */
  readonly status: NotificationStatus
  /** When it was recorded; epoch milliseconds. */
  readonly at: number
  /** Null for the accept. */
  readonly fact: Fact | null
}

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly events: readonly NotificationEvent[] }
  | { readonly kind: 'too_late' | 'ended' | 'unknown' }
