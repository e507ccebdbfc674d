import * as z from 'zod'
import { channel, instant, text } from '../../core/input/fields.ts'
import { namedIds } from '../../core/notification/filter.ts'
import { errorCode, labelFilters } from '../../core/notification/label-filters.ts'
import type { ListQuery } from '../../core/records/list.ts'
import { namedInput } from '../../core/rest/named.ts'
import type { DeadLetterQuery } from './model.ts'

/** Filters for dead letters; all are optional. */
export interface DeadLetterFilter extends Omit<DeadLetterQuery, keyof ListQuery> {}

/** Input for a bulk retry. */
export interface RetryInput {
  /** Required, so that an omission does not retry everything; `{}` does. */
  readonly filter: DeadLetterFilter
  /** Only counts. Default false. */
  readonly dryRun?: boolean | undefined
  /** Notifications due per second, also a fraction. Default: all at once. */
  readonly ratePerSecond?: number | undefined
  /** Maximum number to retry. Default 10,000, at most 1,000,000. */
  readonly most?: number | undefined
  /** `nextCursor` of an earlier call with the same filter: continues there; with `ratePerSecond`, also in time. */
  readonly cursor?: string | undefined
}

/** A parsed {@link RetryInput} with defaults. */
export interface ParsedRetry {
  readonly filter: Omit<DeadLetterFilter, 'from' | 'until'> & {
    readonly from?: number | undefined
    readonly until?: number | undefined
  }
  readonly dryRun: boolean
  readonly ratePerSecond?: number | undefined
  readonly most: number
  readonly cursor?: string | undefined
}

/** The schemas of a {@link DeadLetterFilter}. */
export const deadLetterFilters: {
  readonly [Name in keyof DeadLetterFilter]-?: z.ZodType<ParsedRetry['filter'][Name], DeadLetterFilter[Name]>
} = {
  channel: channel.optional(),
  code: errorCode.optional().describe('The code of its error.'),
  provider: text(1, 64).optional().describe('Instance id of the provider of the last attempt.'),
  template: text(1, 128).optional().describe('Id or name of a template.'),
  to: text(1, 4096).optional().describe('The address, whatever the case of its letters A to Z.'),
  toPrefix: text(1, 4096).optional().describe('How the address begins.'),
  from: instant.optional().describe('Accepted at or after this time.'),
  until: instant.optional().describe('Accepted before this time.'),
  ids: namedIds.optional().describe('Only these notifications.'),
  ...labelFilters,
}

/** A misspelt field would match too much: it is refused whatever `strictBody` says. */
const filter = z.strictObject(deadLetterFilters)

/** The schema of {@link RetryInput}. */
export const retryInput: z.ZodType<ParsedRetry, RetryInput> = namedInput(
  'RetryRequest',
  z.strictObject({
    filter: filter.describe('Which dead letters; `{}`: all.'),
    dryRun: z.boolean().default(false).describe('Only count.'),
    ratePerSecond: z
      .number()
      .min(0.001)
      .max(100_000)
      .optional()
      .describe('Notifications due per second. Default: all at once.'),
    most: z.int().min(1).max(1_000_000).default(10_000).describe('Maximum number to retry.'),
    cursor: text(1, 512).optional().describe('`nextCursor` of an earlier call with the same filter.'),
  }),
)
