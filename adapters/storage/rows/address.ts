import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { NotificationFilter } from '../../../src/core/ports/storage/notifications.ts'

/** Sorts above all that follows a prefix. */
const LAST = '\u{10FFFF}'

/** Where the addresses with a prefix begin and end, in the order of bytes. */
export function prefixRange(prefix: string): readonly [from: string, until: string] {
  const from = lowerAddress(prefix)
  return [from, from + LAST]
}

/** True: the address matches both. */
export function matchesAddress(
  address: string,
  { to, toPrefix }: Pick<NotificationFilter, 'to' | 'toPrefix'>,
): boolean {
  if (to === undefined && toPrefix === undefined) return true
  const lower = lowerAddress(address)
  return (
    (to === undefined || lower === lowerAddress(to)) &&
    (toPrefix === undefined || lower.startsWith(lowerAddress(toPrefix)))
  )
}
