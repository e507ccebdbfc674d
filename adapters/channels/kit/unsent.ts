import { isNotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'

/** Nothing was sent, because the attempt is over. */
export function notBegun(): Outcome {
  return {
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'provider',
    message: 'The attempt ended before it began.',
  }
}

/** Nothing was sent, and nothing will be before somebody acts: another provider may do better. */
export function impossible(error: unknown): Outcome {
  return {
    kind: 'rejected',
    code: isNotifierError(error) ? error.code : 'provider_error',
    scope: 'account',
    message: error instanceof Error ? error.message : String(error),
  }
}
