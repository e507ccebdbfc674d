export const PATIENCE_MS = 45_000

/** A count that grows no more for so long stays as it is. */
const STANDSTILL_MS = 15_000

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until a count is large enough, or until something holds. */
export async function until(
  what: string,
  look: () => number | boolean | Promise<number | boolean>,
  least = 1,
): Promise<void> {
  const began = performance.now()
  let seen = await look()
  for (let since = began; Number(seen) < least; ) {
    const now = performance.now()
    const still = typeof seen === 'number' && now - since > STANDSTILL_MS
    if (still || now - began > PATIENCE_MS) {
      const last = typeof seen === 'number' ? `${seen} of ${least}` : 'not yet'
      throw new Error(`Not within ${Math.round(now - began)} ms: ${what} (${last})`)
    }
    await sleep(20)
    const next = await look()
    if (next !== seen) since = performance.now()
    seen = next
  }
}
