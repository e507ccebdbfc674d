import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { FailureGroups } from '../../core/notification/failure-groups.ts'

/** How far statistics go back: an hour in steps of 5 minutes, a day in hours, or a week in steps of 6 hours. */
export const PERIODS = ['1h', '24h', '7d'] as const

export type Period = (typeof PERIODS)[number]

export interface StatisticsQuery {
  /** Default `24h`. */
  readonly period?: Period | undefined
}

/** What an overview of an organization, or of all, shows. */
export interface Statistics {
  /** ISO 8601 UTC. */
  readonly at: string
  readonly period: Period
  /** The steps of the period by the clock (UTC), oldest first; the last one has not ended. */
  readonly spans: readonly SpanRecord[]
  /**
   * Of what ended in the period the share that a provider accepted and did not report as undelivered, 0 to 1. Null: nothing
   * ended. As exact as the spans.
   */
  readonly successRate: number | null
  /** Why notifications failed that were accepted in the period. */
  readonly failures: FailureGroups
  /** The providers that attempts in the period went to, the least successful first. */
  readonly providers: readonly ProviderStatistics[]
  readonly waiting: {
    /** Due now. */
    readonly due: number
    /** Accepted for a later time. */
    readonly scheduled: number
    /** An attempt failed, and the next one is not due yet. */
    readonly retrying: number
    /** An attempt is under way. */
    readonly running: number
    /** Age of the oldest due job, in milliseconds; null: none is due. */
    readonly oldestDueMs: number | null
  }
  /** Counts of waiting jobs stop here: this number means at least so many. */
  readonly most: number
}

/** One step of a period. Each number counts a notification once. */
export interface SpanRecord {
  /** Its beginning: ISO 8601 UTC. */
  readonly from: string
  /** Its end, exclusive. */
  readonly until: string
  readonly accepted: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
  /** Those of `failed` that a provider had accepted before. */
  readonly bounced: number
  /** False: there may be more; only a bounded part was counted. */
  readonly exact: boolean
}

/** What a provider did, by the newest 2,000 entries of the delivery log. */
export interface ProviderStatistics {
  /** Its instance id. */
  readonly name: string
  readonly channel: string
  /** Attempts that it accepted. */
  readonly sent: number
  /** Attempts that it refused or did not answer, and messages that it reported as undelivered. */
  readonly failed: number
  /** False: older attempts of the period were not examined. */
  readonly exact: boolean
  /** Since when every attempt has failed: ISO 8601 UTC. Null: the last one succeeded. */
  readonly failingSince: string | null
  /** Until when it is paused, as the answering process sees it: ISO 8601 UTC. Null: it is not. */
  readonly pausedUntil: string | null
  /** Its last error. Null: there was none. */
  readonly lastError: ProviderError | null
}

export interface ProviderError {
  readonly code: ErrorCode | null
  /** The provider's own code. */
  readonly providerCode: string | null
  /** A sentence for people. */
  readonly message: string | null
  /** ISO 8601 UTC. */
  readonly at: string
}
