import type { ListQuery } from '../../core/records/list.ts'
import type { Branding } from '../../core/tenancy/organization.ts'
import type { Plan } from '../../core/tenancy/plans.ts'
import type { OwnRetention } from '../../core/tenancy/retention.ts'

export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly plan: string | null
  /** Permitted calling codes of text messages. Null: all. */
  readonly smsCountries: readonly string[] | null
  /** Addresses and domains that its mails may come from. Null: as the providers allow. */
  readonly senders: readonly string[] | null
  /** How many days each kind of its data is kept. A null: as in its plan. */
  readonly retention: OwnRetention
  /** The locale of its messages. Null: that of the option `locale`. */
  readonly locale: string | null
  /** The time zone of dates in its messages. Null: that of the option `timeZone`. */
  readonly timeZone: string | null
  /** How it appears to recipients. A null: its name, no logo, no colour. */
  readonly branding: Branding
  /** Tracking of HTML mails. */
  readonly tracking: { readonly opens: boolean; readonly clicks: boolean }
  readonly createdAt: string
  /** A deletion has begun and not finished. */
  readonly deleting: boolean
}

export interface OrganizationQuery extends ListQuery {
  /** At most 100. Those that exist, in this order. */
  readonly ids?: readonly string[] | undefined
}

/** A plan that organizations may have. Null: unlimited. */
export interface PlanRecord extends Omit<Plan, 'retention'> {
  readonly name: string
}

export interface DeleteOrganizationOptions {
  /** Also removes waiting notifications and webhook events, which are then never delivered. Default false. */
  readonly force?: boolean | undefined
}

/** Result of a deletion. */
export interface OrganizationDeletion {
  readonly id: string
  /** Notifications removed by this call, not by earlier calls of the same deletion. */
  readonly notifications: number
}
