import * as z from 'zod'
import type { AuditAction, AuditTargetKind } from '../audit/actions.ts'
import type { AuditActor } from '../audit/audit.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { channel } from '../input/fields.ts'
import type { FactType } from '../notification/facts.ts'
import type { Labels } from '../notification/labels.ts'
import { type NotificationFailure, type NotificationStatus, STATUSES } from '../notification/notification.ts'
import type { List } from '../records/list.ts'
import { named } from './named.ts'

export { channel as channelName }
export const notificationStatus: z.ZodType<NotificationStatus> = named('NotificationStatus', z.enum(STATUSES))
/** ISO 8601 UTC. */
export const timestamp: z.ZodType<string> = z.iso.datetime()

export const metadataField: z.ZodType<Labels['metadata']> = z
  .record(z.string(), z.string())
  .nullable()
  .describe('Short texts of the application. Null: none.')

/** How the application identifies a notification. */
export const labelFields: { readonly [Name in keyof Labels]: z.ZodType<Labels[Name]> } = {
  metadata: metadataField,
  recipient: z.string().nullable().describe("The application's id of the person. Null: sent to an address."),
  category: z.string().nullable().describe('Id of the category. Null: none was named.'),
  groupId: z
    .string()
    .nullable()
    .describe('Shared by what was sent to several addresses of one person. Null: one address.'),
}

/** A type as responses describe it: names of which later versions add some are texts there. */
export type Open<Type> = ErrorCode extends Type
  ? string | Exclude<Type, ErrorCode>
  : FactType extends Type
    ? string
    : AuditAction extends Type
      ? string
      : AuditTargetKind extends Type
        ? string
        : Type extends readonly (infer Item)[]
          ? readonly Open<Item>[]
          : Type extends object
            ? { readonly [Name in keyof Type]: Open<Type[Name]> }
            : Type

/** Why a notification failed or was skipped. */
export const failure: z.ZodType<Open<NotificationFailure>> = named(
  'Failure',
  z.object({
    code: z.string(),
    message: z.string(),
    providerCode: z.string().optional().describe("The provider's own code. Absent: none."),
    decidedBy: z
      .string()
      .optional()
      .describe('Of a skipped one: the preference that decided. Absent: none did.'),
  }),
)

/** Code and message in an entry of a history or log. */
export const outcomeTextFields: {
  readonly [Name in 'providerCode' | 'message' | 'address']: z.ZodType<string | null>
} = {
  providerCode: z.string().nullable().describe("The provider's own code."),
  message: z.string().nullable().describe('Description, usually from the provider.'),
  address: z
    .string()
    .nullable()
    .describe('The address of the copy that it is about. Null: it is about `to`.'),
}

/** Who made a change. */
export const actor: z.ZodType<AuditActor> = named(
  'Actor',
  z.object({
    type: z.enum(['key', 'operator', 'session', 'code']),
    id: z.string().describe('Id of the key, or name of the person or actor.'),
    name: z.string().nullable().describe('Name of the key.'),
  }),
)

/** Response to a deletion. */
export const deleted: z.ZodType<{ deleted: true }> = named('Deleted', z.object({ deleted: z.literal(true) }))

/** One page of a list. */
export function listOf<Item>(item: z.ZodType<Item>): z.ZodType<List<Item>> {
  return z.object({
    items: z
      .array(item)
      .describe(
        'At most `limit` items. Fewer, or none, do not mean the last page: a filtered page scans a bounded part of the history.',
      ),
    limit: z.int().min(1).max(100),
    offset: z.int().min(0),
    hasMore: z
      .boolean()
      .describe('True: `nextCursor` continues the list, whatever the number of items in this page.'),
    nextCursor: z.string().nullable(),
  })
}

/** A page for people. */
export const page: z.ZodType<string> = z.string()
