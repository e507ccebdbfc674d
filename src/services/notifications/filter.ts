import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { NotificationFilter } from '../../ports/storage/notifications.ts'
import type { Storage } from '../../ports/storage/storage.ts'

/** A filter by template refers to it by name as well. */
export async function templateId(
  storage: Storage,
  idOrName: string | undefined,
  organizationId: string,
): Promise<NotificationFilter['templateId']> {
  if (idOrName === undefined || idOrName.startsWith('tpl_')) return idOrName
  const [template = null] = await storage.templates.find(organizationId, [idOrName])
  // An unknown name is an empty result, not an error: the filter is right, and nothing was sent with it.
  return template?.id ?? idOrName
}

/** @throws NotifierError `invalid_parameter` */
export function instant(field: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const time = Date.parse(value)
  if (Number.isNaN(time)) {
    throw new NotifierError('invalid_parameter', {
      message: `"${field}" must be a time in ISO 8601.`,
      details: { field },
    })
  }
  return time
}
