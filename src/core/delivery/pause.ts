import type { Clock } from '../ports/clock.ts'

/** Waits at least 1 ms, or until `stop` aborts. Returns at once if it has aborted. */
export function pause(ms: number, stop: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      stop.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.timer(Math.max(1, ms), end)
    stop.addEventListener('abort', end)
    if (stop.aborted) end()
  })
}
