import type { NotificationContent } from '../../domain/notification.ts'
import type { WebhookEndpoint } from './webhook-endpoints.ts'

/** Which jobs to lease. Exactly one way of choosing. `leaseMs` is at most two hours. */
export type ClaimRequest =
  /** At most `free` jobs of each lane; an empty list only asks what is due. Jobs of recovery are left out. */
  | { readonly lanes: readonly LaneDemand[]; readonly leaseMs: number }
  /** These jobs, as far as they are due and not leased (queue engines). */
  | { readonly ids: readonly string[]; readonly leaseMs: number }
  /** The one job, of any of the lanes, whose earlier attempt ended with its process; it runs alone. */
  | { readonly recovered: readonly string[]; readonly leaseMs: number }

export interface LaneDemand {
  readonly lane: string
  /** Free slots; at least 1. */
  readonly free: number
  /**
   * Of an endpoint's lane: the claim may begin the attempts as well, since nothing is left to be decided before them. It does
   * so only where its answer cannot be lost while this process lives, or attempts that nobody makes would count.
   *
   * Default: it may not.
   */
  readonly begin?: boolean | undefined
}

export interface ClaimAnswer {
  /** Of each lane those of high priority first, and of each organization in it the oldest first: what is paced goes in this order. */
  readonly jobs: readonly ClaimedJob[]
  /** Lanes with jobs that are still claimable now, whatever was asked for: at most 1,000, in turns if there are more. */
  readonly lanes: readonly string[]
  /** Lanes with recovered jobs that are claimable now. */
  readonly recoveredLanes: readonly string[]
  /** Milliseconds until the next waiting job becomes due or the next lease expires; null: nothing waits. */
  readonly nextDueInMs: number | null
}

/** A lease on one job. */
export interface LeaseRef {
  readonly jobId: string
  readonly token: number
}

/** A lease, and the provider that will be asked. */
export interface StartRef extends LeaseRef {
  readonly provider: string
}

interface JobState extends LeaseRef {
  readonly lane: string
  readonly organizationId: string
  /** Attempts that have started so far. */
  readonly attempts: number
  /** How many of them were settled with `outage`; the others, those that ended with their process too, are its own. */
  readonly outages: number
  /** Those that had started before the notification was retried, part of `attempts`; 0: it was not. */
  readonly earlierAttempts: number
  /** True when an attempt of it ended with its process: see `Storage.claim`. */
  readonly recovered: boolean
  /** Milliseconds since it became due: the delay that the backlog causes. */
  readonly waitedMs: number
  /** The claim has begun the attempt, as `Storage.startAttempts` does; `attempts` is without it. Absent: it has not. */
  readonly begun?: true | undefined
}

/** A leased job with everything that its delivery needs. */
export type ClaimedJob =
  | (JobState & { readonly kind: 'notification'; readonly notification: ClaimedNotification })
  | (JobState & { readonly kind: 'event'; readonly delivery: ClaimedDelivery })

export interface ClaimedNotification {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly content: NotificationContent
  readonly createdAt: number
  /** Milliseconds until it expires, negative when it has; null: never. */
  readonly expiresInMs: number | null
  /** `NewNotification.trace` as it was accepted; null: none. */
  readonly trace: string | null
}

/** One event on its way to one endpoint. */
export interface ClaimedDelivery {
  /** The stable `webhook-id`. */
  readonly eventId: string
  readonly eventType: string
  /** The exact bytes to sign and send, as UTF-8 text. */
  readonly payload: string
  /** The endpoint as it is now. */
  readonly endpoint: WebhookEndpoint
  /** The `trace` of the notification that it tells about; null: none. */
  readonly trace: string | null
}
