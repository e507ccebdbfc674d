import * as z from 'zod'
import { ERRORS, type ErrorCode } from '../errors/catalogue.ts'
import { channel, instant, text } from './fields.ts'

/** Which dead letters; what is absent does not matter. */
export interface DeadLetterFilterInput {
  readonly channel?: string | undefined
  /** `error.code`. */
  readonly code?: ErrorCode | undefined
  /** Instance id of the provider that it failed at. */
  readonly provider?: string | undefined
  /** Template id or name. */
  readonly template?: string | undefined
  /** The recipient, exactly as sent. */
  readonly to?: string | undefined
  /** Accepted at or after: ISO 8601 or a Date. */
  readonly from?: string | Date | undefined
  /** Accepted before: ISO 8601 or a Date. */
  readonly until?: string | Date | undefined
  /** Only these notifications; 1 to 1,000. */
  readonly ids?: readonly string[] | undefined
}

/** What retries dead letters in bulk. */
export interface RetryInput {
  /** Required, so that nobody retries all by leaving something out; `{}` does. */
  readonly filter: DeadLetterFilterInput
  /** Counts what would be retried and changes nothing. Default false. */
  readonly dryRun?: boolean | undefined
  /** So many fall due a second; a fraction spreads them further. Default: all at once. */
  readonly ratePerSecond?: number | undefined
  /** Most that are retried by this call. Default 10,000, at most 1,000,000. */
  readonly most?: number | undefined
  /** `nextCursor` of an earlier call with the same filter: goes on there, also in time where `ratePerSecond` is given. */
  readonly cursor?: string | undefined
}

/** {@link RetryInput} with times as epoch milliseconds and the defaults in place. */
export interface ParsedRetry {
  readonly filter: Omit<DeadLetterFilterInput, 'from' | 'until'> & {
    readonly from?: number | undefined
    readonly until?: number | undefined
  }
  readonly dryRun: boolean
  readonly ratePerSecond?: number | undefined
  readonly most: number
  readonly cursor?: string | undefined
}

/** A code of the catalogue. */
export const errorCode: z.ZodType<ErrorCode, ErrorCode> = z.enum(
  Object.keys(ERRORS) as ErrorCode[],
  'must be an error code of the catalogue',
)

/** The schemas of a {@link DeadLetterFilterInput}. */
export const deadLetterFilters: {
  readonly [Name in keyof DeadLetterFilterInput]-?: z.ZodType<
    ParsedRetry['filter'][Name],
    DeadLetterFilterInput[Name]
  >
} = {
  channel: channel.optional(),
  code: errorCode.optional().describe('The code of its error.'),
  provider: text(1, 64).optional().describe('Instance id of the provider that it failed at.'),
  template: text(1, 128).optional().describe('Id or name of a template.'),
  to: text(1, 4096).optional().describe('The recipient, exactly as sent.'),
  from: instant.optional().describe('Accepted at or after this time.'),
  until: instant.optional().describe('Accepted before this time.'),
  ids: z.array(text(1, 64)).min(1).max(1_000).optional().describe('Only these notifications.'),
}

/** A misspelt field would choose more than was meant: it is refused here whatever `strictBody` says. */
const filter = z.strictObject(deadLetterFilters)

/** The schema of {@link RetryInput}. */
export const retryInput: z.ZodType<ParsedRetry, RetryInput> = z.strictObject({
  filter: filter.describe('Which dead letters; `{}`: all.'),
  dryRun: z.boolean().default(false).describe('Counts what would be retried and changes nothing.'),
  ratePerSecond: z
    .number()
    .min(0.001)
    .max(100_000)
    .optional()
    .describe('So many fall due a second. Default: all at once.'),
  most: z.int().min(1).max(1_000_000).default(10_000).describe('Most that are retried by this call.'),
  cursor: text(1, 512).optional().describe('`nextCursor` of an earlier call with the same filter.'),
})
