/** Whether the monthly quota counts a notification. */
interface Counted {
  readonly counted?: false | undefined
}

/**
 * How many notifications of a request the quota admits: the longest prefix whose counted ones fit.
 *
 * @param left what the quota still admits
 */
export function admittedOf(notifications: readonly Counted[], left: number): number {
  let counted = 0
  for (const [index, notification] of notifications.entries()) {
    if (notification.counted === false) continue
    counted += 1
    if (counted > left) return index
  }
  return notifications.length
}

/** How many of the first `admitted` notifications of a request the quota counts. */
export function countedOf(notifications: readonly Counted[], admitted: number): number {
  let counted = admitted
  for (let index = 0; index < admitted; index += 1) {
    if (notifications[index]?.counted === false) counted -= 1
  }
  return counted
}
