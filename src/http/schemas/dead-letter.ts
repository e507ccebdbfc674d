import * as z from 'zod'
import type { RetryResult } from '../../services/dead-letters/records.ts'
import { timestamp } from './common.ts'

/** Response to a bulk retry. */
export const retryResult: z.ZodType<RetryResult> = z.object({
  dryRun: z.boolean(),
  retried: z.int().describe('In a dry run: the number that would be retried.'),
  skipped: z.object({
    expired: z.int().describe('Expire before they would be due.'),
    unroutable: z.int().describe('Channel not configured.'),
    contentRemoved: z.int().describe('Sensitive, and their content was removed.'),
  }),
  more: z.boolean().describe('True: this call did not process all matching dead letters.'),
  lastDueAt: timestamp.nullable().describe('Due time of the last retried one; null: none was retried.'),
})
