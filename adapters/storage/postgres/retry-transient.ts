import { setTimeout as sleep } from 'node:timers/promises'
import { asFailure, isTransient } from './errors.ts'

const MOST_RUNS = 5

/**
 * Repeats a call after transient errors, such as a deadlock.
 *
 * @param met receives each error
 * @throws the last error, wrapped
 */
export async function retryTransient<Answer>(
  run: () => Promise<Answer>,
  met: (error: unknown) => void,
): Promise<Answer> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run()
    } catch (error) {
      met(error)
      if (!isTransient(error) || runs >= MOST_RUNS) throw asFailure(error)
      await sleep(pauseAfter(runs))
    }
  }
}

/** Grows, with jitter, so that two deadlocked calls do not meet again. */
function pauseAfter(runs: number): number {
  return Math.random() * 10 * 2 ** runs
}
