export const PATIENCE_MS = 45_000

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`Not within ${PATIENCE_MS} ms: ${what}`)
    await sleep(20)
  }
}
