import { setTimeout as sleep } from 'node:timers/promises'
import { asFailure, isPassing } from './errors.ts'

const MOST_RUNS = 5

/**
 * Runs it again where its error passes by itself, as a deadlock does.
 *
 * @param met is told of each error
 * @throws what callers see of the last one
 */
export async function untilPassed<Answer>(
  run: () => Promise<Answer>,
  met: (error: unknown) => void,
): Promise<Answer> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run()
    } catch (error) {
      met(error)
      if (!isPassing(error) || runs >= MOST_RUNS) throw asFailure(error)
      await sleep(pauseAfter(runs))
    }
  }
}

/** Pauses grow, and differ, so that two that met do not meet again. */
function pauseAfter(runs: number): number {
  return Math.random() * 10 * 2 ** runs
}
