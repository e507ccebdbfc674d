import * as z from 'zod'
import { channel } from '../input/fields.ts'
import { metadataFilter } from '../input/metadata.ts'
import { type Filters, flag, ids, line, page, recipient, time } from '../rest/query-schemas.ts'
import { errorCode } from './label-filters.ts'
import { MAX_RECIPIENT_ID } from './labels.ts'
import type { LogQuery, NotificationQuery } from './model.ts'
import { STATUSES } from './notification.ts'

/** Filters by labels. */
export const labels: {
  readonly [Name in 'metadata' | 'recipient' | 'category' | 'groupId']: z.ZodType<NotificationQuery[Name]>
} = {
  metadata: metadataFilter.optional().describe('Pairs that must all match: `metadata[order]=4711`.'),
  recipient: line.max(MAX_RECIPIENT_ID).optional().describe("The application's id of the person."),
  category: line.max(128).optional().describe('Id of the category.'),
  groupId: line.max(64).optional().describe('The group that it was sent with.'),
}

/** Filters by address. */
export const addresses: {
  readonly [Name in 'to' | 'toPrefix']: z.ZodType<NotificationQuery[Name]>
} = {
  to: recipient.optional().describe('The address, whatever the case of its letters A to Z.'),
  toPrefix: recipient.optional().describe('How the address begins, such as `ada@` or `+4917`.'),
}

/** Filters of `GET /v1/notifications`. */
export const notificationQuery: z.ZodType<Filters<NotificationQuery>> = z.object({
  ...page,
  channel: channel.optional(),
  status: z.enum(STATUSES).optional(),
  ...addresses,
  template: line.max(128).optional().describe('Id or name of a template.'),
  code: errorCode.optional().describe('Error code.'),
  provider: line
    .max(64)
    .optional()
    .describe('Instance id of the provider that accepted it last, or of the failed attempt.'),
  from: time.optional().describe('Accepted at or after this time.'),
  until: time.optional().describe('Accepted before this time.'),
  ids: ids.optional().describe('Ids of notifications, separated by commas; at most 100.'),
  ...labels,
})

/** Query of `GET /v1/notifications/{id}`. */
export const notificationViewQuery: z.ZodType<{ rendered?: boolean | undefined }> = z.object({
  rendered: flag.optional().describe('True: include the rendered content. Default: `false`.'),
})

/** Filters of the delivery log. */
export const logQuery: z.ZodType<Filters<LogQuery>> = z.object({
  ...page,
  channel: channel.optional(),
  status: z.enum(STATUSES).optional(),
  notificationId: line.max(128).optional(),
  ...labels,
})
