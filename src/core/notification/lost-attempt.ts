import type { Fact } from './facts.ts'

const WHY = 'The process ended, or stalled, before the outcome of this attempt was recorded.'

/**
 * The fact about an attempt that had begun when its lease expired.
 *
 * @param attempt its number, from 1
 *
 * @example
 * const { events } = recordFacts(state, [lostAttempt(2, 'smtp')], 'engine', 'ada@example.com')
 */
export function lostAttempt(attempt: number, provider: string): Fact {
  const code = 'delivery_unknown'
  return { type: 'attempt_ambiguous', attempt, provider, code, message: WHY, ambiguous: true }
}

/**
 * The result of a post to a webhook endpoint that had begun when its lease expired.
 *
 * @param attempt its number, from 1
 *
 * @example
 * const { attempt: number, response } = lostPost(2)
 */
export function lostPost(attempt: number): {
  readonly attempt: number
  readonly status: null
  readonly response: string
  readonly durationMs: number
  readonly succeeded: false
} {
  return { attempt, status: null, response: WHY, durationMs: 0, succeeded: false }
}
