import type { Labels } from '../../notification/labels.ts'
import type { NotificationContent } from '../../notification/notification.ts'
import type { WebhookEndpoint } from './webhook-endpoints.ts'

/** Selects jobs to lease, in exactly one way. `leaseMs` is at most two hours. */
export type ClaimRequest =
  /** At most `free` jobs of each lane. An empty list claims nothing and reports the due jobs. Skips recovered jobs. */
  | { readonly lanes: readonly LaneDemand[]; readonly leaseMs: number }
  /** These jobs, if they are due and not leased (queue engines). */
  | { readonly ids: readonly string[]; readonly leaseMs: number }
  /** One job of any of the lanes whose earlier attempt ended with its process. It runs alone. */
  | { readonly recovered: readonly string[]; readonly leaseMs: number }

export interface LaneDemand {
  readonly lane: string
  /** Free slots, at least 1. */
  readonly free: number
  /**
   * For the lane of an endpoint: the claim may also begin the attempts, because nothing remains to be decided before
   * them. A storage does so only if its answer cannot be lost while this process lives: an attempt that nothing makes
   * would count.
   *
   * Default: false.
   */
  readonly begin?: boolean | undefined
  /** Present: organizations share the lane's slots by the rule of {@link SharedSlots}. Default: only by round-robin. */
  readonly shared?: SharedSlots | undefined
}

/**
 * Slots that organizations share. A claim fills a slot with an organization's job only while more slots are empty than
 * the organization has in use. So hanging jobs always leave a slot to an organization without any. Jobs that may not
 * start are passed over.
 */
export interface SharedSlots {
  /** Empty slots, at least `LaneDemand.free`; a rate limit may leave fewer of them to be filled now. */
  readonly empty: number
  /** Slots in use by organization. Absent: none. */
  readonly used: ReadonlyMap<string, number>
  /** The organization that may take all. Null: none may. */
  readonly exempt: string | null
}

export interface ClaimAnswer {
  /**
   * Per lane, high priority first; within that, the oldest of each organization first. Rate-limited messages go in this
   * order.
   */
  readonly jobs: readonly ClaimedJob[]
  /**
   * Lanes with jobs that can still be claimed, whether or not the request named them: at most 1,000, round-robin if
   * there are more.
   */
  readonly lanes: readonly string[]
  /** Lanes with recovered jobs that can be claimed now. */
  readonly recoveredLanes: readonly string[]
  /** Milliseconds until the next job becomes due or the next lease expires. Null: nothing waits. */
  readonly nextDueInMs: number | null
}

/** A lease on a job. */
export interface LeaseRef {
  readonly jobId: string
  readonly token: number
}

/** A lease with the provider of the attempt. */
export interface StartRef extends LeaseRef {
  readonly provider: string
  /** Replaces the notification's `to` in the same commit, if the attempt begins. Absent: it stays. */
  readonly to?: string | undefined
}

interface JobState extends LeaseRef {
  readonly lane: string
  readonly organizationId: string
  /** Number of attempts started so far. */
  readonly attempts: number
  /**
   * Number of attempts that were settled with `outage`. The job itself caused the others, including those that ended
   * with their process.
   */
  readonly outages: number
  /**
   * Attempts before the last retry of the notification, part of `attempts`: the highest `attempt` in its facts at that
   * time, where `attempts` begins. 0: no retry, or none before it.
   */
  readonly earlierAttempts: number
  /** True: an attempt of the job ended with its process. See `Storage.claim`. */
  readonly recovered: boolean
  /** Milliseconds since the due time: the delay that the backlog causes. */
  readonly waitedMs: number
  /**
   * The claim has begun the attempt, as `Storage.startAttempts` does; `attempts` does not include it. Absent: it has
   * not.
   */
  readonly begun?: true | undefined
}

/** A leased job with all data for its delivery. */
export type ClaimedJob =
  | (JobState & { readonly kind: 'notification'; readonly notification: ClaimedNotification })
  | (JobState & { readonly kind: 'event'; readonly delivery: ClaimedDelivery })

export interface ClaimedNotification extends Labels {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly content: NotificationContent
  readonly createdAt: number
  /** Milliseconds until the notification expires; negative: it has expired. Null: never. */
  readonly expiresInMs: number | null
  /** `NewNotification.trace` of the accept. Null: none. */
  readonly trace: string | null
}

/** The delivery of one event to one endpoint. */
export interface ClaimedDelivery {
  /** The stable `webhook-id`. */
  readonly eventId: string
  readonly eventType: string
  /** The exact text to sign and send as UTF-8. */
  readonly payload: string
  /** The current state of the endpoint. */
  readonly endpoint: WebhookEndpoint
  /** The `trace` of the event's notification. Null: none. */
  readonly trace: string | null
}
