/** Runs starts and stops one after the other: each finds what the one before has left. */
export type InTurn = (step: () => Promise<void>) => Promise<void>

export function createInTurn(): InTurn {
  let latest: Promise<void> = Promise.resolve()
  return (step) => {
    const mine = latest.then(step)
    latest = mine.catch(() => {})
    return mine
  }
}
