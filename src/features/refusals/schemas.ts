import * as z from 'zod'
import { channel } from '../../core/input/fields.ts'
import { errorCode } from '../../core/notification/label-filters.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { type Filters, line, page, recipient } from '../../core/rest/query-schemas.ts'
import { listOf, type Open, timestamp } from '../../core/rest/schemas.ts'
import type { Refusal, RefusalQuery } from './model.ts'

/** A message that was refused. */
const refusal: z.ZodType<Open<Refusal>> = named(
  'Refusal',
  z.object({
    at: timestamp.describe('When the latest of equal ones was refused.'),
    firstAt: timestamp.describe('When the first of them was refused.'),
    count: z.int().describe('How many were refused.'),
    code: z.string().describe('Error code.'),
    message: z.string(),
    field: z.string().nullable().describe('What needs a change. Null: no field of the message.'),
    channel: z.string().nullable().describe('Null: refused before it was known.'),
    to: z
      .string()
      .nullable()
      .describe('The address. Null: the message named none, or none that its channel takes.'),
    recipient: z.string().nullable().describe("The application's id of the person. Null: it named none."),
    template: z.string().nullable().describe('Id or name of the template. Null: it named none.'),
    sentBy: z
      .object({ id: z.string(), name: z.string().nullable() })
      .nullable()
      .describe('The key, or the person on the dashboard. Null: code.'),
  }),
)

export const refusalList: z.ZodType<List<Open<Refusal>>> = named('RefusalList', listOf(refusal))

/** Filters of `GET /v1/refusals`. */
export const refusalQuery: z.ZodType<Filters<RefusalQuery>> = z.object({
  ...page,
  channel: channel.optional().describe('Refusals before the channel was known match, too.'),
  to: recipient.optional().describe('The address, in any spelling.'),
  recipient: line.max(MAX_RECIPIENT_ID).optional().describe("The application's id of the person."),
  code: errorCode.optional().describe('Error code.'),
})
