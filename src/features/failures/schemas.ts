import * as z from 'zod'
import { named } from '../../core/rest/named.ts'
import { channelName, type Open, timestamp } from '../../core/rest/schemas.ts'
import type { RetryResult } from './model.ts'
import type { FailureGroups } from './statistics-model.ts'

/** Response to a bulk retry. */
export const retryResult: z.ZodType<RetryResult> = named(
  'RetryResult',
  z.object({
    dryRun: z.boolean(),
    retried: z.int().describe('In a dry run: the number that would be retried.'),
    skipped: z.object({
      expired: z.int().describe('Expire before they would be due.'),
      unroutable: z.int().describe('Channel not configured.'),
      contentRemoved: z.int().describe('Sensitive, and their content was removed.'),
    }),
    nextCursor: z.string().nullable().describe('`cursor` of the next call. Null: everything was processed.'),
    more: z.boolean().describe('True: this call did not process all matching dead letters.'),
    lastDueAt: timestamp.nullable().describe('Due time of the last retried one; null: none was retried.'),
  }),
)

const failureGroup = z.object({
  code: z.string(),
  provider: z.string().nullable().describe('Null: no provider was asked.'),
  channel: channelName,
  count: z.int(),
  newestAt: timestamp.describe('When the newest of them was accepted.'),
})

/** Failed notifications by cause. */
export const failureGroups: z.ZodType<Open<FailureGroups>> = named(
  'FailureGroups',
  z.object({
    groups: z.array(failureGroup).describe('Those with most first, at most 100.'),
    exact: z
      .boolean()
      .describe('False: only the newest 10,000 failures were looked at; there are at least so many of each.'),
  }),
)
