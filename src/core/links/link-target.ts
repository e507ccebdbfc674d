import type { ChannelKind } from '../channels/channel-kind.ts'
import { DEFAULT_CATEGORY } from '../notification/category.ts'
import type { NotificationContent } from '../notification/notification.ts'
import type { PersonHashes } from '../people/person-hashes.ts'

/** What a link of a recipient is about. It is complete, so that it outlives the notification. */
export interface LinkTarget {
  readonly organizationId: string
  readonly channel: string
  /** See `PersonHashes`: a link contains no address. */
  readonly address: string
  /** Id of the category. */
  readonly category: string
  readonly notificationId: string
  /** The application's id of the person. Null: unknown. */
  readonly recipient: string | null
  /** Language of the pages, as BCP 47. Null: that of the browser. */
  readonly locale: string | null
}

/** The notification that a link is for. */
export interface LinkSource {
  readonly organizationId: string
  readonly notification: {
    readonly id: string
    readonly to: string
    readonly category?: string | null | undefined
    readonly recipient?: string | null | undefined
    readonly content: Pick<NotificationContent, 'locale' | 'template'>
  }
}

export function targetOf(
  kind: ChannelKind,
  source: LinkSource,
  hashes: Pick<PersonHashes, 'address'>,
): LinkTarget {
  const { organizationId, notification } = source
  const { id, to, category, recipient, content } = notification
  return {
    organizationId,
    channel: kind.name,
    address: hashes.address(kind, to),
    category: category ?? DEFAULT_CATEGORY,
    notificationId: id,
    recipient: recipient ?? null,
    locale: content.locale ?? content.template?.texts?.locale ?? null,
  }
}

/** The content of a token. */
export function writeTarget(target: LinkTarget): string {
  const { organizationId, channel, address, category, notificationId, recipient, locale } = target
  const known = locale !== null ? [recipient ?? '', locale] : recipient === null ? [] : [recipient]
  return JSON.stringify([organizationId, channel, address, category, notificationId, ...known])
}

/** @param payload of a verified token; null: it was not valid */
export function readTarget(payload: string | null): LinkTarget | null {
  if (payload === null) return null
  const [organizationId = '', channel = '', address = '', category = '', notificationId, ...known] =
    partsOf(payload)
  const [recipient = '', locale = null] = known
  return notificationId === undefined
    ? null
    : {
        organizationId,
        channel,
        address,
        category,
        notificationId,
        recipient: recipient === '' ? null : recipient,
        locale,
      }
}

/** None if the payload has another form: an earlier version may have signed it. */
function partsOf(payload: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(payload)
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : []
  } catch {
    return []
  }
}
