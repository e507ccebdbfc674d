import * as z from 'zod'
import type { RetryResult } from '../../services/dead-letters/records.ts'
import { timestamp } from './common.ts'

/** Response to a bulk retry. */
export const retryResult: z.ZodType<RetryResult> = z.object({
  dryRun: z.boolean(),
  retried: z.int().describe('In a dry run: would be.'),
  skipped: z.object({
    expired: z.int().describe('They expire before they would be due.'),
    unroutable: z.int().describe('Their channel is not configured.'),
    contentRemoved: z.int().describe('They were sensitive, and their content was removed.'),
  }),
  more: z.boolean().describe('There are dead letters that this call has not looked at.'),
  lastDueAt: timestamp.nullable().describe('When the last of them falls due; null: none was retried.'),
})
