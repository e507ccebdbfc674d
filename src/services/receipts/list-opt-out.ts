import type { ChannelKind } from '../../domain/channel-kind.ts'
import type { Receipt } from '../../domain/receipt.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { targetOf } from '../links/link-target.ts'
import type { Consent } from '../preferences/consent.ts'
import { optOut } from '../preferences/opting-out.ts'
import type { ReceiptSource } from './records.ts'

/** Whether a report says that the recipient left one list of messages only. */
export function isOfOneList({ suppress }: Receipt): boolean {
  return suppress?.scope === 'category' && suppress.reason === 'unsubscribe'
}

/**
 * Turns off the category of the message that a report is about. May be repeated.
 *
 * @returns false: the message is unknown, or another organization's
 */
export async function leaveList(
  { fact, notificationId }: Receipt,
  kind: ChannelKind,
  { organizationId }: ReceiptSource,
  storage: Pick<Storage, 'notifications'>,
  consent: Consent,
): Promise<boolean> {
  const notification = notificationId === undefined ? null : await storage.notifications.get(notificationId)
  if (notification === null || notification.channel !== kind.name) return false
  if (organizationId !== undefined && notification.organizationId !== organizationId) return false
  // A copy went to someone else than the recipient.
  const copy = fact?.address !== undefined && fact.address !== notification.to
  const of = copy ? { ...notification, to: fact.address ?? '', recipient: null } : notification
  const source = { organizationId: notification.organizationId, notification: of }
  await optOut(consent, targetOf(kind, source))
  return true
}
