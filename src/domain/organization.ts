import type { Tracking } from './track-html.ts'

/** The organization that every method uses when none is named. It always exists. */
export const DEFAULT_ORGANIZATION = 'org_default'

/** A tenant. */
export interface Organization {
  /** `org_<value>` */
  readonly id: string
  /** Display name. */
  readonly name: string
  /** Name of a plan in the `plans` option; null for the default (`org_default`: unlimited, others: free). */
  readonly plan: string | null
  /** Calling codes (`+49`) that text messages may go to; null: all, none listed: none. */
  readonly smsCountries: readonly string[] | null
  /** Days after which what has ended is removed, at least 1; null: as the option `retention` says. */
  readonly retentionDays: number | null
  /** What is counted of its HTML mails. */
  readonly tracking: Tracking
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Its deletion has begun: nothing is accepted or created for it. */
  readonly deleting?: true
}
