import { isNotifierError, NotifierError } from '../domain/errors/notifier-error.ts'

/** What the caller's own function threw inside a call: the call rejects with it as it is. */
export class CallersError {
  readonly thrown: unknown

  constructor(thrown: unknown) {
    this.thrown = thrown
  }
}

/** What a public method rejects with: what a plug-in throws is `service_unavailable`, unless it says otherwise. */
export function failureOf(error: unknown): unknown {
  if (error instanceof CallersError) return error.thrown
  if (isNotifierError(error)) return error
  const message =
    'The storage, the rate limiter or another plug-in failed: see `cause`. Repeat the call later.'
  return new NotifierError('service_unavailable', { message, retryAfterMs: 1_000, cause: error })
}
