/** A notification as the limits see it. */
interface Counted {
  readonly addressees?: number | undefined
  readonly groupId?: string | null | undefined
}

/** What a notification counts for: the units of one limit. */
export type Units = (notification: Counted) => number

/** Against the monthly quota: one for each addressee, and none for what will be skipped. */
export const monthlyUnits: Units = ({ addressees = 1 }) => addressees

/** Against the hourly limit: what will be skipped counts once, because storing it costs the same. */
export const hourlyUnits: Units = ({ addressees = 1 }) => Math.max(1, addressees)

/** A request as the limits see it. */
interface CountedRequest {
  readonly notifications: readonly Counted[]
  readonly records?: readonly unknown[] | undefined
}

/**
 * How many notifications of a request a limit admits: the longest prefix of whole groups that fits. With records: all, or
 * none.
 *
 * @param left units that the limit still admits
 * @param units what a notification counts. Default: one for each addressee, as against the monthly quota
 *
 * @example
 * const admitted = admittedOf(request, quota.limit - used)
 * const stored = request.notifications.slice(0, admitted)
 */
export function admittedOf(
  { notifications, records = [] }: CountedRequest,
  left: number,
  units: Units = monthlyUnits,
): number {
  let counted = 0
  for (const [index, notification] of notifications.entries()) {
    counted += units(notification)
    if (counted > left) return records.length > 0 ? 0 : wholeGroups(notifications, index)
  }
  return notifications.length
}

/** How many of the first `most` notifications remain if a group that would be cut is left out. */
function wholeGroups(notifications: readonly Counted[], most: number): number {
  const groupId = notifications[most]?.groupId ?? null
  let end = most
  while (groupId !== null && notifications[end - 1]?.groupId === groupId) end -= 1
  return end
}

/**
 * What the first `admitted` notifications of a request count for.
 *
 * @example
 * const used = countedOf(request.notifications, admittedOf(request, quota.limit))
 */
export function countedOf(
  notifications: readonly Counted[],
  admitted: number,
  units: Units = monthlyUnits,
): number {
  let counted = 0
  for (let index = 0; index < admitted; index += 1) {
    const notification = notifications[index]
    if (notification !== undefined) counted += units(notification)
  }
  return counted
}
