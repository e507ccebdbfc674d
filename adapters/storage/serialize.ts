/** Serializes starts and stops, so that each sees the result of the one before. */
export type Serialize = (step: () => Promise<void>) => Promise<void>

export function createSerializer(): Serialize {
  let latest: Promise<void> = Promise.resolve()
  return (step) => {
    const mine = latest.then(step)
    latest = mine.catch(() => {})
    return mine
  }
}
