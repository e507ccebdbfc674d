import type { Fact } from './facts.ts'

const WHY = 'The process ended, or stalled, before the outcome of this attempt was recorded.'

/** The fact about an attempt that had begun when its lease expired. @param attempt its number, from 1 */
export function lostAttempt(attempt: number, provider: string): Fact {
  const code = 'delivery_unknown'
  return { type: 'attempt_ambiguous', attempt, provider, code, message: WHY, ambiguous: true }
}

/** The same for a post to a webhook endpoint. */
export function lostPost(attempt: number): {
  readonly attempt: number
  readonly status: null
  readonly response: string
  readonly durationMs: number
  readonly succeeded: false
} {
  return { attempt, status: null, response: WHY, durationMs: 0, succeeded: false }
}
