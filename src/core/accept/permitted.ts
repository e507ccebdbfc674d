import type { ChannelKind, OrganizationLimits } from '../channels/channel-kind.ts'
import type { NewNotification } from '../notification/notification.ts'
import { usable } from '../people/addressed.ts'
import type { AcceptServices, Group } from './prepare.ts'

/** Whether the organization's settings can refuse the notification. */
export function isLimited(kind: ChannelKind, { content: { parts } }: NewNotification): boolean {
  return kind.assertPermitted !== undefined || (parts !== undefined && kind.senderOf?.(parts) !== undefined)
}

/**
 * The notifications of a send that the organization may send.
 *
 * @throws NotifierError `region_not_permitted`, `invalid_sender`
 */
export function withinLimits(
  kind: ChannelKind,
  group: Group,
  limits: OrganizationLimits,
  { people }: Pick<AcceptServices, 'people'>,
): Group {
  const [first] = group
  const { content, recipient = null } = first
  const sender = content.parts === undefined ? undefined : kind.senderOf?.(content.parts)
  if (sender !== undefined) kind.assertSender?.(sender, limits)
  const check = ({ to }: NewNotification) => kind.assertPermitted?.(to, limits)
  if (recipient === null) check(first)
  else return toGroup(usable(group, recipient, check, people), group)
  return group
}

/** A group of one is none. */
function toGroup([first, ...others]: readonly NewNotification[], before: Group): Group {
  if (first === undefined || others.length + 1 === before.length) return before
  return others.length === 0 ? [{ ...first, groupId: null }] : [first, ...others]
}
