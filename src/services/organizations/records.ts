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
}
