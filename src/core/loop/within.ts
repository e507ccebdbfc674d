import { NotifierError } from '../errors/notifier-error.ts'
import type { Clock } from '../ports/clock.ts'

/** Time for a plug-in to open. */
export const OPEN_MS = 30_000

/** Waits for work, at most `limitMs`. False: it is still running. */
export function within(work: Promise<unknown>, limitMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(limitMs, () => resolve(false))
    work.then(() => resolve(true), reject).finally(cancel)
  })
}

/**
 * Calls a plug-in with a timeout of `limitMs`.
 *
 * @param part for people, such as `provider "smtp"`
 * @throws NotifierError `service_unavailable` after the timeout; names the part
 */
export async function inTime<Answer>(
  part: string,
  call: () => Promise<Answer> | Answer,
  limitMs: number,
  clock: Clock,
): Promise<Answer> {
  // A plug-in in plain JavaScript may return a plain value.
  const work = Promise.resolve(call())
  if (await within(work, limitMs, clock)) return work
  throw new NotifierError('service_unavailable', {
    message: `The ${part} did not answer within ${limitMs / 1_000} seconds.`,
    retryAfterMs: 5_000,
  })
}
