/** Serializes starts, stops and inspections, so that each sees the result of the one before. */
export type Serialize = <Answer>(step: () => Promise<Answer>) => Promise<Answer>

export function createSerializer(): Serialize {
  let latest: Promise<unknown> = Promise.resolve()
  return (step) => {
    const mine = latest.then(step)
    latest = mine.catch(() => {})
    return mine
  }
}
