import type { Tracking } from './track-html.ts'

/** The default organization. It always exists. */
export const DEFAULT_ORGANIZATION = 'org_default'

/** A tenant. */
export interface Organization {
  /** `org_<value>` */
  readonly id: string
  /** Display name. */
  readonly name: string
  /** Name of a plan in the option `plans`. Null: the default (`org_default`: unlimited, others: free). */
  readonly plan: string | null
  /** Permitted calling codes (`+49`) of text messages. Null: all; empty: none. */
  readonly smsCountries: readonly string[] | null
  /** Days until ended notifications are removed, at least 1. Null: as in the option `retention`. */
  readonly retentionDays: number | null
  /** Tracking of its HTML mails. */
  readonly tracking: Tracking
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Its deletion has begun: nothing is accepted or created for it. */
  readonly deleting?: true
}
