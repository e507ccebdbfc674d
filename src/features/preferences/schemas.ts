import * as z from 'zod'
import { quietHours } from '../../core/notification/quiet-hours.ts'
import { named } from '../../core/rest/named.ts'
import { timestamp } from '../../core/rest/schemas.ts'
import type { PreferencesRecord } from './model.ts'

const cells = z.record(z.string(), z.boolean())

/** Preferences in responses. */
export const preferencesRecord: z.ZodType<PreferencesRecord> = named(
  'Preferences',
  z.object({
    recipient: z.string().optional().describe("The application's id of the person."),
    channel: z.string().optional().describe('The channel of `to`.'),
    to: z.string().optional().describe('The address as given.'),
    organization: z
      .literal(true)
      .optional()
      .describe('The preferences of the organization itself, for all its people.'),
    channels: cells.describe(
      'On or off by channel; `*` stands for all others. What is not named is undecided.',
    ),
    categories: z
      .record(z.string(), z.union([z.boolean(), cells]))
      .describe('By id of the category: on or off on all channels, or by channel.'),
    quietHours: z
      .union([quietHours, z.literal(false), z.null()])
      .describe('When messages wait. False: never. Null: undecided.'),
    updatedAt: timestamp.nullable().describe('Null: nothing was ever set.'),
  }),
)
