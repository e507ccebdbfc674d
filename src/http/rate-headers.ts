import type { NotifierError } from '../domain/errors/notifier-error.ts'
import type { RateLimitState } from '../services/limits/records.ts'

/** The limit that is nearest to a refusal. */
export function addRateHeaders(headers: Record<string, string>, state: RateLimitState): void {
  headers['X-RateLimit-Limit'] = String(state.limit)
  headers['X-RateLimit-Remaining'] = String(state.remaining)
  headers['X-RateLimit-Reset'] = String(state.resetAt)
  headers['X-RateLimit-Resource'] = state.resource
}

/** The limit that refused a request, which the error of a refusal has in its details; null: none did. */
export function refusingLimit({ status, details }: NotifierError): RateLimitState | null {
  if (status !== 429 || details === undefined) return null
  const { resource, limit, resetAt } = details
  if (typeof resource !== 'string' || typeof limit !== 'number' || typeof resetAt !== 'number') return null
  return { resource, limit, remaining: 0, resetAt }
}
