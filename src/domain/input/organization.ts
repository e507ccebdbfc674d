import * as z from 'zod'
import { isCallingCode } from '../sms-countries.ts'
import type { Tracking } from '../track-html.ts'
import { text } from './fields.ts'

/** What creates an organization. */
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

/** For people: to follow "must be". */
export const ORGANIZATION_ID = '"org_" and 1 to 60 letters, digits, hyphens or underscores'
const ID = /^org_[A-Za-z0-9_-]{1,60}$/

/** Whether an organization can have this id. */
export function isOrganizationId(id: string): boolean {
  return ID.test(id)
}

const name = text(1, 200)
const plan = text(1, 60).nullish().describe('Name of a plan of the service; null, or left out: `free`.')
const smsCountries = z
  .array(z.string().refine(isCallingCode, 'must be a calling code such as +49'))
  .max(300)
  .nullish()
  .describe('Calling codes that text messages may go to, such as `+49` or `+1876`; null: all.')

const retentionDays = z
  .int()
  .min(1)
  .max(36_500)
  .nullish()
  .describe('Days after which ended notifications are removed; null: as the service is configured.')

const tracking = z
  .strictObject({ opens: z.boolean().optional(), clicks: z.boolean().optional() })
  .nullish()
  .describe('What is counted of HTML mails; what is left out is off.')

/** A setting with what is absent filled in. */
export function trackingOf(given: OrganizationInput['tracking']): Tracking {
  return { opens: given?.opens === true, clicks: given?.clicks === true }
}

/** The schema of {@link OrganizationInput}. */
export const organizationInput: z.ZodType<OrganizationInput, OrganizationInput> = z.object({
  id: z.string().regex(ID, `must be ${ORGANIZATION_ID}`).optional(),
  name,
  plan,
  smsCountries,
  retentionDays,
  tracking,
})

/** What changes an organization; absent fields stay. */
export type OrganizationChange = {
  readonly [Field in Exclude<keyof OrganizationInput, 'id'>]?: OrganizationInput[Field] | undefined
}

/** The schema of {@link OrganizationChange}. */
export const organizationChange: z.ZodType<OrganizationChange> = z.object({
  name: name.optional(),
  plan,
  smsCountries,
  retentionDays,
  tracking,
})
