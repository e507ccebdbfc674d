const EVERY_MS = 60_000

/**
 * Reports the first fault, and of those that follow one a minute: what is away is met again and again.
 *
 * @param now milliseconds, never set back
 */
export function seldom(report: (error: unknown) => void, now: () => number): (error: unknown) => void {
  let silentUntil = Number.NEGATIVE_INFINITY
  return (error) => {
    if (now() < silentUntil) return
    silentUntil = now() + EVERY_MS
    report(error)
  }
}
