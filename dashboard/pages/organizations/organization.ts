/** An organization, as the REST API shows it. */
export interface Organization {
  readonly id: string
  readonly name: string
  readonly plan: string | null
  readonly smsCountries: readonly string[] | null
  readonly retention: { readonly contentDays: number | null; readonly logDays: number | null }
  readonly branding: {
    readonly name: string | null
    readonly logoUrl: string | null
    readonly color: string | null
  }
  readonly tracking: { readonly opens: boolean; readonly clicks: boolean }
  readonly createdAt: string
  readonly deleting: boolean
}

/** What the next pass of retention removes, as the REST API shows it. */
export type RetentionPreview = {
  readonly [Kind in 'contents' | 'notifications']: { readonly removes: number; readonly exact: boolean }
}
