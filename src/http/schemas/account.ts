import * as z from 'zod'
import type { AccountLimits } from '../../services/records.ts'
import { timestamp } from './common.ts'

const usage = z.object({
  limit: z.int(),
  used: z.int(),
  remaining: z.int(),
  resetAt: timestamp,
  windowSeconds: z.number().nullable().describe('Length of the window; null: a calendar month (UTC).'),
})

/** SPEC.md "Account limits"; null where the plan has no limit. */
export const accountLimits: z.ZodType<AccountLimits> = z.object({
  organizationId: z.string(),
  plan: z.string(),
  limits: z.object({
    requests: usage.nullable(),
    concurrentRequests: z.object({ limit: z.int() }).nullable(),
    notificationsPerHour: usage.nullable(),
    notificationsPerMonth: usage.nullable(),
  }),
  restriction: z.object({ until: timestamp }).nullable(),
})
