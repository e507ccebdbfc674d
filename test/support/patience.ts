import { availableParallelism, loadavg } from 'node:os'

/**
 * How many times longer than on a quiet machine tests may take. `CARILLON_TEST_PATIENCE` says it for a slow machine; for
 * one that is busy when the run begins, its load does.
 */
export const PATIENCE: number = Number(
  process.env.CARILLON_TEST_PATIENCE ?? Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()),
)

/** How long a test may wait for one thing. */
export const WAIT_MS: number = 10_000 * PATIENCE

/** How long a test may take; those that need more say so. */
export const TEST_MS: number = 1.5 * WAIT_MS
