import * as z from 'zod'
import { channel } from '../../core/input/fields.ts'
import { SUPPRESSION_REASONS } from '../../core/notification/suppression.ts'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { type Filters, page, recipient } from '../../core/rest/query-schemas.ts'
import { channelName, listOf, timestamp } from '../../core/rest/schemas.ts'
import type { SuppressionTarget } from './input.ts'
import type { SuppressionQuery, SuppressionRecord } from './model.ts'

/** A suppressed recipient on a channel. */
export const suppressionRecord: z.ZodType<SuppressionRecord> = named(
  'Suppression',
  z.object({
    channel: channelName,
    to: z
      .string()
      .nullable()
      .describe(
        'The recipient. E-mail addresses are in lower case with punycode domains. Null: erased; the entry stays in force.',
      ),
    reason: z.enum(SUPPRESSION_REASONS),
    source: z.string().nullable().describe('Origin of the entry, for people.'),
    createdAt: timestamp,
  }),
)

export const suppressionList: z.ZodType<List<SuppressionRecord>> = named(
  'SuppressionList',
  listOf(suppressionRecord),
)

/** Filters of `GET /v1/suppressions`. */
export const suppressionQuery: z.ZodType<Filters<SuppressionQuery>> = z.object({
  ...page,
  channel: channel.optional(),
  to: recipient
    .optional()
    .describe('The recipient in any spelling; also finds an entry whose address was erased.'),
  reason: z.enum(SUPPRESSION_REASONS).optional(),
})

/** Query of `DELETE /v1/suppressions`. */
export const suppressionTargetQuery: z.ZodType<SuppressionTarget> = z.object({
  channel: channel,
  to: recipient.describe('The recipient, percent-encoded: the plus sign of a phone number is `%2B`.'),
})
