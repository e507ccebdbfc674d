import type { Outcome } from '../../../src/domain/outcome.ts'

/** Shorter ones would tear holes into texts that have nothing to do with them. */
const SHORTEST = 4

/** What is kept of a provider's text: enough to understand it. */
const MAX_TEXT = 500

/**
 * A provider may repeat in a refusal what it was sent.
 *
 * @param secrets in every form in which they travel
 * @returns a function that removes them from the texts of an outcome, and then cuts these: the beginning of a secret that
 *   was cut would not be found
 */
export function redactor(secrets: readonly string[]): (outcome: Outcome) => Outcome {
  const hidden = secrets.filter((secret) => secret.length >= SHORTEST)
  const clean = (text: string) =>
    hidden.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text).slice(0, MAX_TEXT)
  const cleaned = (text: string | undefined) => (text === undefined ? undefined : clean(text))
  return (outcome) => {
    switch (outcome.kind) {
      case 'accepted':
        return outcome
      case 'ambiguous':
        return {
          ...outcome,
          reason: clean(outcome.reason),
          ...(outcome.providerCode === undefined ? {} : { providerCode: clean(outcome.providerCode) }),
        }
      case 'rejected':
      case 'retry':
        return {
          ...outcome,
          message: cleaned(outcome.message),
          ...(outcome.providerCode === undefined ? {} : { providerCode: clean(outcome.providerCode) }),
        }
    }
  }
}
