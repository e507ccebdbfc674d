import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { targetOf } from '../../core/links/link-target.ts'
import type { Receipt } from '../../core/notification/receipt.ts'
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
  { storage, hashes }: Pick<FeatureCore, 'storage' | 'hashes'>,
  { optOut }: OptOuts,
): Promise<boolean> {
  const notification = notificationId === undefined ? null : await storage.notifications.get(notificationId)
  if (notification === null || notification.channel !== kind.name) return false
  if (organizationId !== undefined && notification.organizationId !== organizationId) return false
  const source = { organizationId: notification.organizationId, notification }
  const target = targetOf(kind, source, hashes)
  const address = fact?.address === undefined ? target.address : hashes.address(kind, fact.address)
  // A copy went to someone else than the recipient.
  const recipient = address === target.address ? target.recipient : null
  await optOut({ ...target, address, recipient })
  return true
}
