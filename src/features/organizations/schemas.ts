import * as z from 'zod'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { type Filters, flag, ids, page } from '../../core/rest/query-schemas.ts'
import { listOf, timestamp } from '../../core/rest/schemas.ts'
import type { OrganizationDeletion, OrganizationQuery, OrganizationRecord, PlanRecord } from './model.ts'

/** Query of `DELETE /v1/organizations/{id}`. */
export const organizationDeletionQuery: z.ZodType<{ force?: boolean | undefined }> = z.object({
  force: flag
    .optional()
    .describe(
      'True: also remove waiting notifications and events without delivering them. Default: `false`.',
    ),
})

/** An organization. */
export const organizationRecord: z.ZodType<OrganizationRecord> = named(
  'Organization',
  z.object({
    id: z.string().regex(/^org_[\w-]+$/),
    name: z.string(),
    plan: z.string().nullable().describe('Null: `free`, or unlimited for `org_default`.'),
    smsCountries: z
      .array(z.string())
      .nullable()
      .describe('Allowed calling codes of text messages; null: all.'),
    senders: z
      .array(z.string())
      .nullable()
      .describe('Addresses and domains that its mails may come from; null: as the providers allow.'),
    retention: z
      .object({
        contentDays: z.int().nullable().describe('Texts, variables and files of ended notifications.'),
        logDays: z.int().nullable().describe('Ended notifications with their log and webhook deliveries.'),
      })
      .describe('How many days each kind of its data is kept. A null: as in its plan.'),
    locale: z.string().nullable().describe('The locale of its messages; null: that of the service.'),
    timeZone: z
      .string()
      .nullable()
      .describe('The time zone of dates in its messages; null: that of the service.'),
    branding: z
      .object({ name: z.string().nullable(), logoUrl: z.string().nullable(), color: z.string().nullable() })
      .describe('How it appears to recipients. A null: its name, no logo, no colour.'),
    tracking: z.object({ opens: z.boolean(), clicks: z.boolean() }).describe('Tracking of HTML mails.'),
    createdAt: timestamp,
    deleting: z.boolean().describe('True: its deletion has begun.'),
  }),
)

/** Filters of `GET /v1/organizations`. */
export const organizationQuery: z.ZodType<Filters<OrganizationQuery>> = z.object({
  ...page,
  ids: ids
    .optional()
    .describe('Ids of organizations, separated by commas; at most 100. Unknown ones are left out.'),
})

const most = z.int().nullable()

/** The plans of the service. */
export const planList: z.ZodType<{ readonly items: readonly PlanRecord[] }> = named(
  'PlanList',
  z.object({
    items: z.array(
      z
        .object({
          name: z.string(),
          requests: z.object({ limit: z.int(), windowMs: z.int() }).nullable(),
          notificationsPerHour: most,
          concurrentRequests: most,
          notificationsPerMonth: most,
          storedBytes: most,
        })
        .describe('Null: unlimited.'),
    ),
  }),
)

export const organizationList: z.ZodType<List<OrganizationRecord>> = named(
  'OrganizationList',
  listOf(organizationRecord),
)

/** Result of a deletion. */
export const organizationDeletion: z.ZodType<OrganizationDeletion> = named(
  'OrganizationDeletion',
  z.object({
    id: z.string(),
    notifications: z
      .int()
      .describe(
        'Notifications removed by this request; earlier requests for the same deletion may have removed others.',
      ),
  }),
)
