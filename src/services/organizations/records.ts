export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly plan: string | null
  /** Calling codes that text messages may go to; null: all. */
  readonly smsCountries: readonly string[] | null
  /** Days after which what has ended is removed; null: as the option `retention` says. */
  readonly retentionDays: number | null
  /** What is counted of HTML mails. */
  readonly tracking: { readonly opens: boolean; readonly clicks: boolean }
  readonly createdAt: string
  /** Its deletion has begun, and is not finished yet. */
  readonly deleting: boolean
}

export interface DeleteOrganizationOptions {
  /** Removes notifications and webhook events that wait, too; they are never delivered. Default false. */
  readonly force?: boolean | undefined
}

/** What a deletion removed. */
export interface OrganizationDeletion {
  readonly id: string
  /** Notifications that this call removed; a deletion that goes on has removed others before. */
  readonly notifications: number
}
