import * as z from 'zod'
import { channel } from '../../core/input/fields.ts'
import { errorCode } from '../../core/notification/label-filters.ts'
import { addresses, labels } from '../../core/notification/query-schemas.ts'
import { type Filters, ids, line, page, time } from '../../core/rest/query-schemas.ts'
import type { DeadLetterGroupQuery, DeadLetterQuery } from './model.ts'

const cause = {
  channel: channel.optional(),
  code: errorCode.optional().describe('Error code.'),
  provider: line.max(64).optional().describe('Instance id of the provider of the failed attempt.'),
  from: time.optional().describe('Accepted at or after this time.'),
  until: time.optional().describe('Accepted before this time.'),
}

/** Filters of `GET /v1/dead-letters/groups`. */
export const deadLetterGroupQuery: z.ZodType<DeadLetterGroupQuery> = z.object(cause)

/** Filters of `GET /v1/dead-letters`. */
export const deadLetterQuery: z.ZodType<Filters<DeadLetterQuery>> = z.object({
  ...page,
  ...cause,
  template: line.max(128).optional().describe('Id or name of a template.'),
  ...addresses,
  ids: ids.optional().describe('Ids of notifications, separated by commas; at most 100.'),
  ...labels,
})
