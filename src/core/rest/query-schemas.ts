import * as z from 'zod'
import { errorCode } from '../../features/failures/input.ts'
import type { DeadLetterGroupQuery, DeadLetterQuery } from '../../features/failures/model.ts'
import { MAX_RECIPIENT_ID } from '../../features/preferences/input.ts'
import type { SuppressionQuery } from '../../features/suppressions/api.ts'
import type { SuppressionTarget } from '../../features/suppressions/input.ts'
import type { WebhookDeliveryQuery } from '../../features/webhook-events/model.ts'
import { webhookDeliveryStatus } from '../../features/webhook-events/schemas.ts'
import { channel, NO_INSTANT } from '../input/fields.ts'
import { metadataFilter } from '../input/metadata.ts'
import type { LogQuery, NotificationQuery } from '../notification/model.ts'
import { STATUSES } from '../notification/notification.ts'
import { type ListQuery, offsetNumber } from '../records/list.ts'

// Number() would also accept "", " 5 ", "1e1" and "0x10".
const digits = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)

const line = z
  .string()
  .min(1)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')

const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean())

const recipient = line.max(4096)

const time = z.iso.datetime({ offset: true, error: NO_INSTANT })

const page = {
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

type Filters<Query extends ListQuery> = Omit<Query, 'organizationId'>

/** Query of a link in a message. */
export const linkQuery: z.ZodType<{ t: string; lang?: string | undefined }> = z.object({
  t: line.max(8_000).describe('The signed token of the link.'),
  lang: line
    .max(35)
    .optional()
    .describe('Language of the page. Default: that of the message, else by Accept-Language.'),
})

/** Query of the preference page. */
export const preferencePageQuery: z.ZodType<{
  t: string
  lang?: string | undefined
  saved?: string | undefined
}> = z.object({
  t: line.max(8_000).describe('The signed token of the link.'),
  lang: line
    .max(35)
    .optional()
    .describe('Language of the page. Default: that of the message, else by Accept-Language.'),
  saved: z.literal('1').optional().describe('`1`: says that the preferences are saved.'),
})

/** Paging parameters. */
export const listQuery: z.ZodType<Filters<ListQuery>> = z.object(page)

const labels = {
  metadata: metadataFilter.optional().describe('Pairs that must all match: `metadata[order]=4711`.'),
  recipient: line.max(MAX_RECIPIENT_ID).optional().describe("The application's id of the person."),
  category: line.max(128).optional().describe('Id of the category.'),
  groupId: line.max(64).optional().describe('The group that it was sent with.'),
}

/** Filters of `GET /v1/notifications`. */
export const notificationQuery: z.ZodType<Filters<NotificationQuery>> = z.object({
  ...page,
  channel: channel.optional(),
  status: z.enum(STATUSES).optional(),
  to: recipient.optional().describe('The recipient, exactly as sent.'),
  template: line.max(128).optional().describe('Id or name of a template.'),
  code: errorCode.optional().describe('Error code.'),
  provider: line
    .max(64)
    .optional()
    .describe('Instance id of the provider that accepted it last, or of the failed attempt.'),
  from: time.optional().describe('Accepted at or after this time.'),
  until: time.optional().describe('Accepted before this time.'),
  ...labels,
})

/** Query of `GET /v1/notifications/{id}`. */
export const notificationViewQuery: z.ZodType<{ rendered?: boolean | undefined }> = z.object({
  rendered: flag.optional().describe('True: include the rendered content. Default: `false`.'),
})

/** Query of `DELETE /v1/organizations/{id}`. */
export const organizationDeletionQuery: z.ZodType<{ force?: boolean | undefined }> = z.object({
  force: flag
    .optional()
    .describe(
      'True: also remove waiting notifications and events without delivering them. Default: `false`.',
    ),
})

/** Filters of the delivery log. */
export const logQuery: z.ZodType<Filters<LogQuery>> = z.object({
  ...page,
  channel: channel.optional(),
  status: z.enum(STATUSES).optional(),
  notificationId: line.max(128).optional(),
  ...labels,
})

/** Filters of `GET /v1/webhooks/{id}/deliveries`. */
export const webhookDeliveryQuery: z.ZodType<Filters<WebhookDeliveryQuery>> = z.object({
  ...page,
  status: webhookDeliveryStatus.optional(),
})

/** Filters of `GET /v1/suppressions`. */
export const suppressionQuery: z.ZodType<Filters<SuppressionQuery>> = z.object({
  ...page,
  channel: channel.optional(),
})

/** Query of `DELETE /v1/suppressions`. */
export const suppressionTargetQuery: z.ZodType<SuppressionTarget> = z.object({
  channel: channel,
  to: recipient.describe('The recipient, percent-encoded: the plus sign of a phone number is `%2B`.'),
})

/** Query of `/v1/preferences`. */
export const preferencesQuery: z.ZodType<{
  recipient?: string | undefined
  channel?: string | undefined
  to?: string | undefined
}> = z.object({
  recipient: line
    .max(MAX_RECIPIENT_ID)
    .optional()
    .describe("The application's id of a person, as `recipient` in a send."),
  channel: channel.optional().describe('With `to`, instead of `recipient`.'),
  to: recipient.optional().describe('An address, percent-encoded: the plus sign of a phone number is `%2B`.'),
})

// Validated before the split, so that an error names the parameter and not one of its parts.
const ids = line
  .regex(
    /^[^,]{1,64}(?:,[^,]{1,64}){0,99}$/,
    'must be 1 to 100 ids of at most 64 characters, separated by commas',
  )
  .transform((text) => text.split(','))
  .pipe(z.array(z.string().min(1).max(64)).min(1).max(100))

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
  to: recipient.optional().describe('The recipient, exactly as sent.'),
  ids: ids.optional().describe('Ids of notifications, separated by commas; at most 100.'),
  ...labels,
})
