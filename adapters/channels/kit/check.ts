import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'

/**
 * Ends a `check` by what a provider answered to a question that sends nothing: a request for the account, say.
 *
 * @param who the provider, as the beginning of a sentence
 * @throws NotifierError with the provider's reason, unless it is content
 */
export function assertWorks(outcome: Outcome, who: string): void {
  if (outcome.kind === 'accepted') return
  const why = outcome.kind === 'ambiguous' ? outcome.reason : outcome.message
  throw new NotifierError(outcome.code ?? 'provider_error', {
    message: `${who} cannot be used: ${why ?? 'unknown reason'}`,
  })
}
