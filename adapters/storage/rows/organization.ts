import type { Organization } from '../../../src/domain/organization.ts'
import { NO_TRACKING, type Tracking } from '../../../src/domain/track-html.ts'

export interface OrganizationRow {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly plan: string | null
  /** A JSON array. */
  readonly sms_countries: string | null
  readonly retention_days: number | null
  /** A JSON object. Null: off. */
  readonly tracking: string | null
  readonly created_at: number
  /** `plain` or `force` once its deletion has begun. Null: not being deleted. */
  readonly deleting: 'plain' | 'force' | null
}

export function toOrganization(row: OrganizationRow): Organization {
  const { id, name, plan, sms_countries, retention_days: retentionDays, created_at: createdAt } = row
  const smsCountries = sms_countries === null ? null : (JSON.parse(sms_countries) as readonly string[])
  const tracking = row.tracking === null ? NO_TRACKING : (JSON.parse(row.tracking) as Tracking)
  const organization = { id, name, plan, smsCountries, retentionDays, tracking, createdAt }
  return row.deleting === null ? organization : { ...organization, deleting: true }
}

export function countriesColumn(smsCountries: readonly string[] | null): string | null {
  return smsCountries === null ? null : JSON.stringify(smsCountries)
}
