import type { NotificationEvent } from '../../notification/event-payload.ts'
import type { NotificationContent } from '../../notification/notification.ts'

/**
 * Erases what the hot tables hold about people. The caller finds notifications by {@link NotificationRepository.list};
 * records are erased by the features that own them.
 */
export interface CustodyRepository {
  /**
   * Erases the addressee of notifications: one commit. Of each stay its id, organization, channel, category, group, times,
   * status and history without identity; see `erasedFact`. Its address becomes `ERASED_ADDRESS`; its recipient id, metadata,
   * trace and copies go; its content becomes `erasedContent`; it names no upload any more; and its deliveries keep
   * `erasedPayload` and attempts without answers. No later fact, receipt or delivery brings any of it back.
   *
   * One that waits, for its first or another attempt, is cancelled as by a call, and its event says nothing of the person. One with a
   * leased job, or with a leased delivery, is `busy` and unchanged. Repeating is harmless.
   */
  erase(request: EraseRequest): Promise<EraseAnswer>
  /**
   * Takes people out of the copies of notifications to others: one commit. Facts that name the addresses become
   * `erasedFact`. Its deliveries lose the texts of errors that name them, and such answers. One with a leased job, or
   * with a leased delivery, is `busy`.
   */
  eraseCopies(request: EraseCopiesRequest): Promise<ErasedStep>
  /**
   * What people wrote to an organization, and reports about unknown messages of its providers, oldest first. Reports of
   * shared providers belong to `org_default`.
   */
  reports(request: ReportsRequest): Promise<ReportsPage>
  /** Removes some of them, with their deliveries. Ignores unknown ids. Returns the number of removed ones. */
  removeReports(organizationId: string, ids: readonly string[]): Promise<number>
  /** Marks the present, for {@link passed}. At most 250 characters. */
  mark(): Promise<string>
  /** Whether all transactions that were open at a mark have ended. */
  passed(mark: string): Promise<boolean>
}

export interface EraseRequest {
  readonly organizationId: string
  /** 1 to 100. Ignores unknown ids, ids of other organizations, and erased ones. */
  readonly ids: readonly string[]
}

export interface EraseCopiesRequest extends EraseRequest {
  /** With small letters A to Z, in all their spellings. */
  readonly addresses: readonly string[]
  /** A content, without its attachments, without the copies to these addresses. Pure and quick. */
  without(channel: string, content: NotificationContent): NotificationContent
}

/** The notifications of a step by their ids. */
export interface ErasedStep {
  readonly erased: readonly string[]
  readonly busy: readonly string[]
  /** Left for another call, so that the step stays short. Not all: the call goes on. */
  readonly left: readonly string[]
}

export interface EraseAnswer extends ErasedStep {
  /** Number of those that waited. */
  readonly cancelled: number
  /** Number of deliveries that lost their bodies. */
  readonly deliveries: number
  /** Published events about the cancelled ones. */
  readonly events: readonly NotificationEvent[]
}

export interface ReportsRequest {
  readonly organizationId: string
  /** Maximum number of reports to examine, 1 to 1,000. */
  readonly most: number
  /** `next` of the previous page. Absent: start with the oldest. */
  readonly after?: string | undefined
}

export interface ReportsPage {
  readonly items: readonly StoredReport[]
  /** `after` of the next page. Null: none. */
  readonly next: string | null
}

/** What someone wrote, as published to endpoints, or a provider's report about an unknown message. */
export interface StoredReport {
  readonly id: string
  readonly kind: 'message' | 'receipt'
  /** JSON: a `MessageReceivedEvent`, or a `Fact`. */
  readonly json: string
  /** Epoch milliseconds. */
  readonly at: number
}
