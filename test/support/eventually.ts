import { WAIT_MS } from './patience.ts'

/** Looks every few milliseconds until `look` answers something; its last error, or a timeout, ends the wait. */
export async function eventually<Value>(
  look: () => Value | Promise<Value>,
  { withinMs = WAIT_MS, everyMs = 20 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<NonNullable<Value>> {
  const end = performance.now() + withinMs
  for (;;) {
    let last: unknown = new Error(`Nothing within ${withinMs} ms.`)
    try {
      const value = await look()
      if (value) return value
    } catch (error) {
      last = error
    }
    if (performance.now() > end) throw last
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
