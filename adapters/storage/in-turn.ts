/** Serializes starts and stops, so that each sees the result of the one before. */
export type InTurn = (step: () => Promise<void>) => Promise<void>

export function createInTurn(): InTurn {
  let latest: Promise<void> = Promise.resolve()
  return (step) => {
    const mine = latest.then(step)
    latest = mine.catch(() => {})
    return mine
  }
}
