import * as z from 'zod'
import { NO_INSTANT } from '../input/fields.ts'
import { type ListQuery, offsetNumber } from '../records/list.ts'

// Number() would also accept "", " 5 ", "1e1" and "0x10".
const digits = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)

/** Text of one line. */
export const line: z.ZodString = z
  .string()
  .min(1)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')

/** Up to 100 ids. Validated before the split, so that an error names the parameter and not one of its parts. */
export const ids: z.ZodType<readonly string[]> = line
  .regex(
    /^[^,]{1,64}(?:,[^,]{1,64}){0,99}$/,
    'must be 1 to 100 ids of at most 64 characters, separated by commas',
  )
  .transform((text) => text.split(','))
  .pipe(z.array(z.string().min(1).max(64)).min(1).max(100))

/** `true` or `false`. */
export const flag: z.ZodType<boolean> = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean())

/** An address, in a query. */
export const recipient: z.ZodType<string> = line.max(4096)

/** A time as text. */
export const time: z.ZodType<string> = z.iso.datetime({ offset: true, error: NO_INSTANT })

interface Paging {
  readonly limit: z.ZodType<number | undefined>
  readonly offset: z.ZodType<number | undefined>
  readonly cursor: z.ZodType<string | undefined>
}

/** Paging parameters of a list. */
export const page: Paging = {
  limit: digits
    .pipe(z.int().min(1).max(100))
    .optional()
    .describe('Most results. Pages of large templates and filtered pages may have fewer. Default: 50.'),
  offset: digits
    .pipe(offsetNumber)
    .optional()
    .describe('Results to skip. Use `cursor` for deep pages and selective filters.'),
  cursor: line.max(512).optional().describe('`nextCursor` of an earlier page.'),
}

/** A query of a list, without its organization. */
export type Filters<Query extends ListQuery> = Omit<Query, 'organizationId'>

/** Paging parameters. */
export const listQuery: z.ZodType<Filters<ListQuery>> = z.object(page)
