import type { OrganizationLimits } from '../channels/channel-kind.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { NewNotification } from '../notification/notification.ts'

/**
 * The check whether an organization may send as the sender that a message names; it throws NotifierError `invalid_sender`.
 * Undefined: the organization's settings cannot refuse the message.
 */
export function senderCheck(
  kinds: Kinds,
  { channel, to, content: { parts } }: NewNotification,
): ((limits: OrganizationLimits) => void) | undefined {
  // A message without an address will be skipped.
  if (to === '' || parts === undefined) return undefined
  const kind = kinds.of(channel)
  const sender = kind.assertSender === undefined ? undefined : kind.senderOf?.(parts)
  return sender === undefined ? undefined : (limits) => kind.assertSender?.(sender, limits)
}
