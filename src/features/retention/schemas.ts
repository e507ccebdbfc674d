import * as z from 'zod'
import { named } from '../../core/rest/named.ts'
import { timestamp } from '../../core/rest/schemas.ts'
import type { RetentionCount, RetentionPreview } from './model.ts'

const retained: z.ZodType<RetentionCount> = named(
  'RetentionCount',
  z.object({
    days: z
      .number()
      .nullable()
      .describe(
        'Of all organizations together: those of the service. Null: forever, and contents as long as their notification.',
      ),
    source: z.enum(['service', 'plan', 'organization']).describe('What sets the days.'),
    removes: z.int().describe('How many notifications the next pass removes, or takes the content of.'),
    exact: z.boolean().describe('False: there may be more; only a bounded part was looked at.'),
    oldest: timestamp.nullable().describe('When the oldest of them was accepted. Null: there is none.'),
  }),
)

/** What the next pass removes. */
export const retentionPreview: z.ZodType<RetentionPreview> = named(
  'RetentionPreview',
  z.object({
    at: timestamp,
    contents: retained.describe(
      'Texts, variables and files of ended notifications. Those also count that go with their notification in the same pass.',
    ),
    notifications: retained.describe('Ended notifications with their log and webhook deliveries.'),
  }),
)
