import * as z from 'zod'
import { text } from './fields.ts'

/** What creates an organization. */
export interface NewOrganization {
  /** `org_` and 1 to 60 letters, digits, hyphens or underscores. */
  readonly id?: string | undefined
  /** Display name. */
  readonly name: string
}

const name = text(1, 200)

/** The schema of {@link NewOrganization}. */
export const organizationInput: z.ZodType<NewOrganization, NewOrganization> = z.object({
  id: z
    .string()
    .regex(/^org_[A-Za-z0-9_-]{1,60}$/, 'must be "org_" and 1 to 60 letters, digits, hyphens or underscores')
    .optional(),
  name,
})

/** The schema of a change to an organization. */
export const organizationChange: z.ZodType<{ readonly name?: string | undefined }> = z.object({
  name: name.optional(),
})
