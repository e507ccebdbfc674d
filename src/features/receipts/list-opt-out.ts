import { addressHash } from '../../core/channels/address-hash.ts'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import { targetOf } from '../../core/links/link-target.ts'
import type { Receipt } from '../../core/notification/receipt.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { OptOuts } from '../preferences/index.ts'
import type { ReceiptSource } from './model.ts'

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
  { optOut }: OptOuts,
): Promise<boolean> {
  const notification = notificationId === undefined ? null : await storage.notifications.get(notificationId)
  if (notification === null || notification.channel !== kind.name) return false
  if (organizationId !== undefined && notification.organizationId !== organizationId) return false
  const target = targetOf(kind, { organizationId: notification.organizationId, notification })
  const address = fact?.address === undefined ? target.address : addressHash(kind, fact.address)
  // A copy went to someone else than the recipient.
  const recipient = address === target.address ? target.recipient : null
  await optOut({ ...target, address, recipient })
  return true
}
