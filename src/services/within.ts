import type { Clock } from '../ports/clock.ts'

/** Waits for work, but no longer than `limitMs`. False: it was still under way. */
export function within(work: Promise<unknown>, limitMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(limitMs, () => resolve(false))
    work.then(() => resolve(true), reject).finally(cancel)
  })
}
