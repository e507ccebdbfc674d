/** An organization, as the REST API shows it. */
export interface Organization {
  readonly id: string
  readonly name: string
  readonly plan: string | null
  readonly smsCountries: readonly string[] | null
  readonly retention: { readonly logDays: number | null }
  readonly branding: {
    readonly name: string | null
    readonly logoUrl: string | null
    readonly color: string | null
  }
  readonly tracking: { readonly opens: boolean; readonly clicks: boolean }
  readonly createdAt: string
  readonly deleting: boolean
}
