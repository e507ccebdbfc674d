/**
 * Calls a function of the application that is only notified: its exception or rejection has no other effect.
 *
 * @param onError receives the exception or rejection
 */
export function safely(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(onError)
  } catch (error) {
    onError(error)
  }
}
