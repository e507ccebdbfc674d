const EVERY_MS = 60_000
/** A forgotten name is reported again. */
const MOST_NAMES = 1_000

/**
 * Reports the first event, and then at most one per minute.
 *
 * @param report `leftOut`: number of omitted events since the last report
 * @param now monotonic milliseconds
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

/** Like {@link throttled}, for each name separately. */
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
