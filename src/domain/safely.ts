/**
 * Calls a function of the application's that only hears of something: nothing else fails for what it throws, or rejects with
 * where it is async.
 *
 * @param failed is told that
 */
export function safely(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(failed)
  } catch (error) {
    failed(error)
  }
}
