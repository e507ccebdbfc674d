import * as z from 'zod'
import { SUPPRESSION_REASONS } from '../../core/notification/suppression.ts'
import type { List } from '../../core/records/list.ts'
import { channelName, listOf, timestamp } from '../../core/rest/schemas.ts'
import type { SuppressionRecord } from './api.ts'

/** A suppressed recipient on a channel. */
export const suppressionRecord: z.ZodType<SuppressionRecord> = z.object({
  channel: channelName,
  to: z.string().describe('The recipient. E-mail addresses are in lower case with punycode domains.'),
  reason: z.enum(SUPPRESSION_REASONS),
  source: z.string().nullable().describe('Origin of the entry, for people.'),
  createdAt: timestamp,
})

export const suppressionList: z.ZodType<List<SuppressionRecord>> = listOf(suppressionRecord)
