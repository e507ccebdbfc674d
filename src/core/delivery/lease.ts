/**
 * The longest lease, in milliseconds. A longer one comes from a clock that ran ahead and was corrected: it counts as
 * expired.
 */
export const LONGEST_LEASE_MS = 7_200_000
