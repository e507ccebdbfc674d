import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'

/**
 * Ends a provider's `check` with the outcome of a harmless request, for example for account data.
 *
 * @param who the provider, as the start of a sentence
 * @throws NotifierError with the provider's reason, unless the outcome is `accepted`
 *
 * @example
 * const outcome = await http.send({ method: 'GET', url: 'https://api.acme.example/account', headers }, ({ status }) =>
 *   status === 200 ? { kind: 'accepted' } : null,
 * )
 * assertWorks(outcome, 'Acme')
 */
export function assertWorks(outcome: Outcome, who: string): void {
  if (outcome.kind === 'accepted') return
  const why = outcome.kind === 'ambiguous' ? outcome.reason : outcome.message
  throw new NotifierError(outcome.code ?? 'provider_error', {
    message: `${who} cannot be used: ${why ?? 'unknown reason'}`,
  })
}
