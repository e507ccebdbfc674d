import type { Groups } from '../failures/group.ts'

export const PERIODS = ['1h', '24h', '7d'] as const
export type Period = (typeof PERIODS)[number]

/** The numbers of an organization, as the REST API counts them. */
export interface Statistics {
  readonly period: Period
  readonly waiting: {
    readonly due: number
    readonly scheduled: number
    readonly retrying: number
    readonly running: number
    /** How long the one that waits longest has been due; null: none is due. */
    readonly oldestDueMs: number | null
  }
  /** Counts of what waits end here. */
  readonly most: number
  /** The steps of the period, oldest first. */
  readonly spans: readonly Span[]
  /** 0 to 1; null: nothing ended. */
  readonly successRate: number | null
  /** Of what was accepted in the period. */
  readonly failures: Groups
  readonly providers: readonly Provider[]
}

export interface Span {
  readonly from: string
  readonly until: string
  readonly accepted: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
  /** False: there may be more than was counted. */
  readonly exact: boolean
}

export interface Provider {
  readonly name: string
  readonly channel: string
  readonly sent: number
  readonly failed: number
  readonly exact: boolean
  readonly failingSince: string | null
  readonly pausedUntil: string | null
  readonly lastError: {
    readonly code: string | null
    readonly providerCode: string | null
    readonly message: string | null
    readonly at: string
  } | null
}
