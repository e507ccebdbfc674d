import * as z from 'zod'
import { MAX_RECIPIENT_LENGTH } from '../channels/channel-kind.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { channel, instant, text } from '../input/fields.ts'
import type { NotificationFilter } from '../ports/storage/notifications.ts'
import { type ListRequest, listReader } from '../records/list.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { ALL_ORGANIZATIONS } from '../tenancy/all-organizations.ts'
import { wrong } from '../tenancy/scope.ts'
import { type CodeTemplates, inCode } from '../text/code-templates.ts'
import { findStored } from '../text/find-templates.ts'
import { errorCode, labelFilters } from './label-filters.ts'
import type { LabelFilter } from './labels.ts'
import { type NotificationStatus, STATUSES } from './notification.ts'

const of = { channel: channel.optional(), status: z.enum(STATUSES).optional() }

/** The notifications that a filter names. */
export const namedIds: z.ZodType<readonly string[], readonly string[]> = z
  .array(text(1, 64))
  .min(1)
  .max(1_000)

/** Reads a `NotificationQuery`. */
export const readNotifications: (
  query: unknown,
  organizationId: string,
) => ListRequest<
  LabelFilter & {
    channel?: string | undefined
    status?: NotificationStatus | undefined
    to?: string | undefined
    toPrefix?: string | undefined
    template?: string | undefined
    code?: ErrorCode | undefined
    provider?: string | undefined
    from?: number | undefined
    until?: number | undefined
    ids?: readonly string[] | undefined
  }
> = listReader('notifications', {
  ...of,
  to: text(1, MAX_RECIPIENT_LENGTH).optional(),
  toPrefix: text(1, MAX_RECIPIENT_LENGTH).optional(),
  template: text(1, 128).optional(),
  code: errorCode.optional(),
  provider: text(1, 64).optional(),
  from: instant.optional(),
  until: instant.optional(),
  ids: namedIds.optional(),
  ...labelFilters,
})

/** Reads a `LogQuery`. */
export const readLogs: (
  query: unknown,
  organizationId: string,
) => ListRequest<
  LabelFilter & {
    channel?: string | undefined
    status?: NotificationStatus | undefined
    notificationId?: string | undefined
  }
> = listReader('logs', { ...of, notificationId: text(1, 128).optional(), ...labelFilters })

/**
 * A filter accepts the name of a template as well as its id; over all organizations only a name in code, since each has
 * templates of its own.
 *
 * @throws NotifierError `invalid_parameter`
 */
export async function templateId(
  records: RecordReads,
  idOrName: string | undefined,
  organizationId: string,
  code: Pick<CodeTemplates, 'find'>,
): Promise<NotificationFilter['templateId']> {
  if (idOrName === undefined || idOrName.startsWith('tpl_')) return idOrName
  // The id of one in code is its name.
  if (inCode(code, idOrName) !== null) return idOrName
  if (organizationId === ALL_ORGANIZATIONS)
    throw wrong(
      'template',
      'the id of a template, or the name of one in code: each organization has its own names',
    )
  const [template = null] = await findStored(records, [{ organizationId, reference: idOrName }])
  // An unknown name gives an empty result: the filter is valid, and nothing was sent with that template.
  return template?.id ?? idOrName
}
