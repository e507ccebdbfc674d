/**
 * The longest lease, in milliseconds. One that would last longer comes from a clock that ran ahead when it was given and has
 * been corrected since: it counts as expired.
 */
export const LONGEST_LEASE_MS = 7_200_000
