import * as z from 'zod'
import { channel } from '../../domain/input/fields.ts'
import { type NotificationFailure, type NotificationStatus, STATUSES } from '../../domain/notification.ts'
import type { List } from '../../services/list.ts'

export { channel as channelName }
export const notificationStatus: z.ZodType<NotificationStatus> = z.enum(STATUSES)
/** ISO 8601 UTC. */
export const timestamp: z.ZodType<string> = z.iso.datetime()

/** Why a notification failed. */
export const failure: z.ZodType<Omit<NotificationFailure, 'code'> & { code: string }> = z.object({
  code: z.string(),
  message: z.string(),
  providerCode: z
    .string()
    .optional()
    .describe("The provider's own code or word for it. Absent where it gave none."),
})

/** Code and message in an entry of a history or log. */
export const outcomeTextFields: { readonly [Name in 'providerCode' | 'message']: z.ZodType<string | null> } =
  {
    providerCode: z.string().nullable().describe("The provider's own code or word for it."),
    message: z.string().nullable().describe('What was said of it, mostly by the provider.'),
  }

/** Response to a deletion. */
export const deleted: z.ZodType<{ deleted: true }> = z.object({ deleted: z.literal(true) })

/** One page of a list. */
export function listOf<Item>(item: z.ZodType<Item>): z.ZodType<List<Item>> {
  return z.object({
    items: z
      .array(item)
      .describe(
        'At most `limit`. Fewer, or none, are no sign of the last page: a filtered one looks at a bounded part of a long history.',
      ),
    limit: z.int().min(1).max(100),
    offset: z.int().min(0),
    hasMore: z.boolean().describe('True: `nextCursor` leads on, however many items this page has.'),
    nextCursor: z.string().nullable(),
  })
}
