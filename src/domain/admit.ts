/** A notification as the monthly quota sees it. */
interface Counted {
  /** False: the quota does not count it. */
  readonly counted?: false | undefined
  readonly groupId?: string | null | undefined
}

/**
 * How many notifications of a request the quota admits: the longest prefix of whole groups whose counted ones fit.
 *
 * @param left what the quota still admits
 */
export function admittedOf(notifications: readonly Counted[], left: number): number {
  let counted = 0
  for (const [index, notification] of notifications.entries()) {
    if (notification.counted === false) continue
    counted += 1
    if (counted > left) return wholeGroups(notifications, index)
  }
  return notifications.length
}

/** How many of the first `most` notifications remain if a group that would be cut is left out. */
export function wholeGroups(notifications: readonly Counted[], most: number): number {
  const groupId = notifications[most]?.groupId ?? null
  let end = most
  while (groupId !== null && notifications[end - 1]?.groupId === groupId) end -= 1
  return end
}

/** How many of the first `admitted` notifications of a request the quota counts. */
export function countedOf(notifications: readonly Counted[], admitted: number): number {
  let counted = admitted
  for (let index = 0; index < admitted; index += 1) {
    if (notifications[index]?.counted === false) counted -= 1
  }
  return counted
}
