import type { ChannelKind, OrganizationLimits } from '../../domain/channel-kind.ts'
import type { NewNotification } from '../../domain/notification.ts'

/** Whether the organization's settings can refuse the notification. */
export function isLimited(kind: ChannelKind, { content: { parts } }: NewNotification): boolean {
  return kind.assertPermitted !== undefined || (parts !== undefined && kind.senderOf?.(parts) !== undefined)
}

/** @throws NotifierError `region_not_permitted`, `invalid_sender` */
export function assertLimits(
  kind: ChannelKind,
  { to, content: { parts } }: NewNotification,
  limits: OrganizationLimits,
): void {
  kind.assertPermitted?.(to, limits)
  const sender = parts === undefined ? undefined : kind.senderOf?.(parts)
  if (sender !== undefined) kind.assertSender?.(sender, limits)
}
