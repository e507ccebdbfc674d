import type { NotifierError } from '../core/errors/notifier-error.ts'
import type { RateLimitState } from '../core/limits/model.ts'

/** Adds the headers of the limit that is closest to a refusal. */
export function addRateHeaders(headers: Record<string, string>, state: RateLimitState): void {
  headers['X-RateLimit-Limit'] = String(state.limit)
  headers['X-RateLimit-Remaining'] = String(state.remaining)
  headers['X-RateLimit-Reset'] = String(state.resetAt)
  headers['X-RateLimit-Resource'] = state.resource
}

/** The limit in the details of a refusal. Null: no limit refused the request. */
export function refusingLimit({ status, details }: NotifierError): RateLimitState | null {
  if (status !== 429 || details === undefined) return null
  const { resource, limit, remaining, resetAt } = details
  if (typeof resource !== 'string' || typeof limit !== 'number' || typeof resetAt !== 'number') return null
  return { resource, limit, remaining: typeof remaining === 'number' ? remaining : 0, resetAt }
}
