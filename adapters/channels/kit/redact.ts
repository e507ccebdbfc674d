import type { FailureDetail, Outcome } from '../../../src/core/notification/outcome.ts'

/** Shorter secrets could match unrelated text. */
const SHORTEST = 4

/** Longest kept part of a provider's text. */
const MAX_TEXT = 500

/**
 * Removes secrets from outcomes: a provider may quote the request in its refusal.
 *
 * @param secrets in every encoding that requests use
 * @returns a function that redacts and then shortens the texts of an outcome, in this order: a truncated secret would
 *   not match
 *
 * @example
 * const redact = redactor([apiKey])
 * const outcome = redact({ kind: 'ambiguous', reason: String(error) })
 */
export function redactor(secrets: readonly string[]): (outcome: Outcome) => Outcome {
  const hidden = secrets.filter((secret) => secret.length >= SHORTEST)
  const clean = (text: string) =>
    hidden.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text).slice(0, MAX_TEXT)
  const cleaned = (text: string | undefined) => (text === undefined ? undefined : clean(text))
  const refusal = <Refusal extends FailureDetail>(given: Refusal): Refusal => ({
    ...given,
    message: cleaned(given.message),
    ...(given.providerCode === undefined ? {} : { providerCode: clean(given.providerCode) }),
  })
  return (outcome) => {
    switch (outcome.kind) {
      case 'accepted':
        return outcome.refusedCopies === undefined
          ? outcome
          : { ...outcome, refusedCopies: outcome.refusedCopies.map(refusal) }
      case 'ambiguous':
        return {
          ...outcome,
          reason: clean(outcome.reason),
          ...(outcome.providerCode === undefined ? {} : { providerCode: clean(outcome.providerCode) }),
        }
      case 'rejected':
      case 'retry':
        return refusal(outcome)
    }
  }
}
