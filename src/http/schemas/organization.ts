import * as z from 'zod'
import type { List } from '../../services/list.ts'
import type { OrganizationDeletion, OrganizationRecord } from '../../services/organizations/records.ts'
import { listOf, timestamp } from './common.ts'

/** An organization. */
export const organizationRecord: z.ZodType<OrganizationRecord> = z.object({
  id: z.string().regex(/^org_[\w-]+$/),
  name: z.string(),
  plan: z.string().nullable().describe('Null: `free`; for `org_default` unlimited.'),
  smsCountries: z
    .array(z.string())
    .nullable()
    .describe('Calling codes that text messages may go to; null: all.'),
  retentionDays: z
    .int()
    .nullable()
    .describe('Days after which ended notifications are removed; null: as the service is configured.'),
  tracking: z.object({ opens: z.boolean(), clicks: z.boolean() }).describe('What is counted of HTML mails.'),
  createdAt: timestamp,
  deleting: z.boolean().describe('Its deletion has begun, and is not finished yet.'),
})

export const organizationList: z.ZodType<List<OrganizationRecord>> = listOf(organizationRecord)

/** Result of a deletion. */
export const organizationDeletion: z.ZodType<OrganizationDeletion> = z.object({
  id: z.string(),
  notifications: z
    .int()
    .describe('Notifications that this request removed; a deletion that goes on has removed others before.'),
})
