import * as z from 'zod'
import { GRANTS, PERMISSIONS } from '../access/permissions.ts'
import { named } from '../rest/named.ts'
import { timestamp } from '../rest/schemas.ts'
import type { AccountLimits, Identity, LimitUsage } from './model.ts'

/** One limit and how much of it is used. */
const limitUsage: z.ZodType<LimitUsage> = named(
  'LimitUsage',
  z.object({
    limit: z.int(),
    used: z.int(),
    remaining: z.int(),
    resetAt: timestamp,
    windowSeconds: z.number().nullable().describe('Length of the window; null: a calendar month (UTC).'),
  }),
)

/** The limits of an account; null where the plan has no limit. */
export const accountLimits: z.ZodType<AccountLimits> = named(
  'AccountLimits',
  z.object({
    organizationId: z.string(),
    plan: z.string(),
    limits: z.object({
      requests: limitUsage.nullable(),
      concurrentRequests: z.object({ limit: z.int() }).nullable(),
      notificationsPerHour: limitUsage.nullable(),
      notificationsPerMonth: limitUsage.nullable(),
      storedBytes: z
        .object({ limit: z.int(), used: z.int(), remaining: z.int() })
        .nullable()
        .describe('Bytes of all that the organization stores beside notifications.'),
    }),
    restriction: z.object({ until: timestamp }).nullable(),
  }),
)

export const identity: z.ZodType<Identity> = named(
  'Identity',
  z.object({
    id: z.string(),
    name: z.string(),
    permission: z.enum(PERMISSIONS),
    grants: z.array(z.enum(GRANTS)),
    organizations: z
      .union([z.literal('all'), z.array(z.string())])
      .describe('Ids of the organizations that requests may name. `all`: an operator key.'),
  }),
)
