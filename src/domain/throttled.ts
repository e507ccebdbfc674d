const EVERY_MS = 60_000
/** A name that is forgotten is reported again. */
const MOST_NAMES = 1_000

/**
 * Reports the first of what is told, and one a minute of those that follow: what is away is met again and again.
 *
 * @param report `leftOut`: how many were not reported since the last one
 * @param now milliseconds, never set back
 */
export function throttled<Told = unknown>(
  report: (told: Told, leftOut: number) => void,
  now: () => number,
): (told: Told) => void {
  let silentUntil = Number.NEGATIVE_INFINITY
  let leftOut = 0
  return (told) => {
    if (now() < silentUntil) {
      leftOut += 1
      return
    }
    silentUntil = now() + EVERY_MS
    const before = leftOut
    leftOut = 0
    report(told, before)
  }
}

/** As {@link throttled}, for each name by itself. */
export function throttledEach<Told>(
  report: (told: Told, leftOut: number) => void,
  now: () => number,
): (name: string, told: Told) => void {
  const reports = new Map<string, (told: Told) => void>()
  return (name, told) => {
    let tell = reports.get(name)
    if (tell === undefined) {
      if (reports.size >= MOST_NAMES) reports.delete(reports.keys().next().value as string)
      tell = throttled(report, now)
      reports.set(name, tell)
    }
    tell(told)
  }
}
