export interface OrganizationInput {
  /** `org_` and 1 to 60 letters, digits, hyphens or underscores. Default: random. */
  readonly id?: string | undefined
  /** 1 to 200 characters. */
  readonly name: string
  /** Name of a plan of the option `plans`. Default: `free`. */
  readonly plan?: string | null | undefined
  /**
   * Calling codes such as `+49` that text messages may go to; for a part of `+1` its area code (`+1876`). Others are
   * refused with `region_not_permitted`. Default null: all.
   */
  readonly smsCountries?: readonly string[] | null | undefined
  /**
   * Days after which what has ended is removed, with its log and webhook deliveries; 1 to 36 500. Default null: as the
   * option `retention` says.
   */
  readonly retentionDays?: number | null | undefined
  /**
   * What is counted of HTML mails, by a picture (`opens`) and by links that lead over `publicUrl` (`clicks`), without
   * which nothing is; what is absent is off. Default: nothing.
   */
  readonly tracking?:
    | { readonly opens?: boolean | undefined; readonly clicks?: boolean | undefined }
    | null
    | undefined
}

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
