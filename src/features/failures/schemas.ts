import * as z from 'zod'
import { named } from '../../core/rest/named.ts'
import { timestamp } from '../../core/rest/schemas.ts'
import type { RetryResult } from './model.ts'

/** Response to a bulk retry. */
export const retryResult: z.ZodType<RetryResult> = named(
  'RetryResult',
  z.object({
    dryRun: z.boolean(),
    retried: z.int().describe('In a dry run: the number that would be retried.'),
    skipped: z.object({
      expired: z.int().describe('Expire before they would be due.'),
      unroutable: z.int().describe('Channel not configured.'),
      contentRemoved: z.int().describe('Their content was removed.'),
    }),
    nextCursor: z.string().nullable().describe('`cursor` of the next call. Null: everything was processed.'),
    more: z.boolean().describe('True: this call did not process all matching dead letters.'),
    lastDueAt: timestamp.nullable().describe('Due time of the last retried one; null: none was retried.'),
  }),
)
