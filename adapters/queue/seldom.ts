const EVERY_MS = 60_000

/** Reports the first fault, and of those that follow one a minute: an engine repeats itself while its server is away. */
export function seldom(report: (error: unknown) => void): (error: unknown) => void {
  let silentUntil = 0
  return (error) => {
    if (performance.now() < silentUntil) return
    silentUntil = performance.now() + EVERY_MS
    report(error)
  }
}
