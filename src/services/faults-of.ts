/**
 * Says whose a fault is: what a driver reports, such as a refused connection, does not.
 *
 * @param part for people, such as `queue "bullmq"`
 */
export function faultsOf(part: string, onError: (error: Error) => void): (cause: unknown) => void {
  return (cause) => onError(new Error(`The ${part} has failed: ${wordsOf(cause)}`, { cause }))
}

/** A driver that has tried several addresses says so in a code alone. */
function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'see `cause`.'
  return cause.message || (cause as { readonly code?: unknown }).code?.toString() || cause.name
}
