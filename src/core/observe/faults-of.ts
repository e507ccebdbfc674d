/**
 * Adds the name of the part to its errors, which a driver's message (such as a refused connection) lacks.
 *
 * @param part for people, such as `queue "bullmq"`
 */
export function faultsOf(part: string, onError: (error: Error) => void): (cause: unknown) => void {
  return (cause) => onError(new Error(`The ${part} has failed: ${messageOf(cause)}`, { cause }))
}

/** A driver that tried several addresses has only a code. */
function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'see `cause`.'
  return cause.message || (cause as { readonly code?: unknown }).code?.toString() || cause.name
}
