import type { Clock } from '../ports/clock.ts'

/** When everything that a stop waits for is to be over. */
export interface Deadline {
  leftMs(): number
  /** Waits for work, but no longer than until then. False: it was still under way. */
  within(work: Promise<unknown>): Promise<boolean>
  /** Brings it nearer; never puts it off. */
  shorten(ms: number): void
}

export function createDeadline(ms: number, clock: Clock): Deadline {
  let end = Number.POSITIVE_INFINITY
  let pass = (): void => {}
  const passed = new Promise<false>((resolve) => {
    pass = () => resolve(false)
  })

  function shorten(ms: number): void {
    const sooner = clock.monotonic() + ms
    if (sooner >= end) return
    end = sooner
    clock.timer(ms, pass)
  }

  shorten(ms)
  return {
    leftMs: () => Math.max(0, end - clock.monotonic()),
    within: (work) => Promise.race([work.then(() => true), passed]),
    shorten,
  }
}
