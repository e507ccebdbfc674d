import { setTimeout as sleep } from 'node:timers/promises'
import { isNotifierError, NotifierError } from '../../src/core/errors/notifier-error.ts'

const WITHIN_MS = 10_000
const EVERY_MS = 200

/**
 * Asks the database what became of a commit without an answer, until it answers: a restart takes some seconds.
 *
 * As long as the server may still run the transaction, rows that are not there prove nothing: ask for its status, or store
 * them again and let unique ids decide.
 *
 * @param lookUp rejects if the database does not answer
 * @throws NotifierError `service_unavailable` if it has not answered after ten seconds; another NotifierError of the last
 *   `lookUp` passes unchanged
 *
 * @example
 * async function commit(): Promise<boolean> {
 *   try {
 *     await client.query('COMMIT')
 *     return true
 *   } catch (error) {
 *     if (isRefusal(error)) return false
 *     return commitLookup(() => isStored(ids))
 *   }
 * }
 */
export async function commitLookup<Outcome>(lookUp: () => Promise<Outcome>): Promise<Outcome> {
  const end = performance.now() + WITHIN_MS
  for (;;) {
    try {
      return await lookUp()
    } catch (cause) {
      if (performance.now() < end) await sleep(EVERY_MS)
      else throw isNotifierError(cause) ? cause : new NotifierError('service_unavailable', { cause })
    }
  }
}
