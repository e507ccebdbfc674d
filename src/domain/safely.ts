/**
 * Calls a function of the application's that only hears of something: nothing else fails for what it throws, or rejects with
 * where it is async.
 *
 * @param onError is told that
 */
export function safely(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(onError)
  } catch (error) {
    onError(error)
  }
}
