/** The division of a lane's free slots between priorities. */
export interface SlotShare {
  readonly high: number
  readonly normal: number
  /** Pass it to the next call for the same lane. */
  readonly turn: number
}

/** `high` jobs in a row before a waiting `normal` one. */
const HIGH_RUN = 4

/**
 * `high` goes first, but waiting normal jobs get at least one slot of five, also if slots become free one by one:
 * `turn` counts the `high` jobs since the last normal one.
 *
 * @param free slots to give
 * @param high claimable jobs of high priority; may be capped, not below `free`
 * @param normal claimable jobs of normal priority; may be capped, not below `free`
 */
export function shareSlots(free: number, high: number, normal: number, turn: number): SlotShare {
  const share = { high: 0, normal: 0, turn }
  for (let slot = 0; slot < free; slot += 1) {
    if (share.normal < normal && (share.turn >= HIGH_RUN || share.high >= high)) {
      share.normal += 1
      share.turn = 0
    } else if (share.high < high) {
      share.high += 1
      share.turn = Math.min(share.turn + 1, HIGH_RUN)
    } else break
  }
  return share
}
