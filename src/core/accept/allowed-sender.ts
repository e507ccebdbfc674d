import type { OrganizationLimits } from '../channels/channel-kind.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { NewNotification } from '../notification/notification.ts'
import type { Group } from './prepare.ts'

type SenderCheck = (limits: OrganizationLimits) => void

/**
 * The check whether an organization may send as the senders that a group names; it throws NotifierError `invalid_sender`.
 * Undefined: the organization's settings cannot refuse the message.
 */
export function senderCheck(kinds: Kinds, group: Group): SenderCheck | undefined {
  if (group.length === 1) return checkOf(kinds, group[0])
  // The notifications of a channel follow each other, with the same parts.
  const heads = group.filter(({ channel }, at) => channel !== group[at - 1]?.channel)
  const checks = heads.flatMap((head) => checkOf(kinds, head) ?? [])
  if (checks.length === 0) return undefined
  return (limits) => {
    for (const check of checks) check(limits)
  }
}

function checkOf(
  kinds: Kinds,
  { channel, to, content: { parts } }: NewNotification,
): SenderCheck | undefined {
  // A message without an address will be skipped.
  if (to === '' || parts === undefined) return undefined
  const kind = kinds.of(channel)
  const sender = kind.assertSender === undefined ? undefined : kind.senderOf?.(parts)
  return sender === undefined ? undefined : (limits) => kind.assertSender?.(sender, limits)
}
