/**
 * Timeout of one step: below the test timeout of runners, so that the contract says what is missing. node:test would
 * wait forever.
 */
const PATIENCE_MS = 4_000

/** Rejects after a timeout. */
export async function inTime<Value>(
  coming: Promise<Value>,
  otherwise: string,
  patienceMs: number = PATIENCE_MS,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`After ${patienceMs} ms ${otherwise}.`)), patienceMs)
  })
  try {
    return await Promise.race([coming, late])
  } finally {
    clearTimeout(timer)
  }
}
