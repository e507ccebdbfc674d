import type { Clock } from '../ports/clock.ts'

/** The deadline of a stop. */
export interface Deadline {
  leftMs(): number
  /** Waits for work until the deadline. False: the work is still running. */
  within(work: Promise<unknown>): Promise<boolean>
  /** Moves the deadline earlier, never later. */
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
