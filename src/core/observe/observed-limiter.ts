import { judged } from '../limits/decision.ts'
import { inTime as answerInTime } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { Observer } from './observer.ts'

/** Timeout of the limiter. */
const ANSWER_MS = 10_000

/**
 * Counts decisions that a rate limiter did not make, and applies the timeout. A synchronous exception or an invalid
 * decision becomes a rejection.
 */
export function observedLimiter(limiter: RateLimiter, observer: Observer, clock: Clock): RateLimiter {
  const inTime = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    answerInTime('rate limiter', call, ANSWER_MS, clock)

  return {
    async consume(checks) {
      try {
        const decision = judged('consume', checks, await inTime(() => limiter.consume(checks)))
        if (decision.uncounted === true) observer.record({ type: 'unjudged', answer: 'allowed' })
        return decision
      } catch (error) {
        observer.record({ type: 'unjudged', answer: 'failed' })
        throw error
      }
    },
    peek: async (checks) => judged('peek', checks, await inTime(() => limiter.peek(checks))),
    refund: (check, units) => inTime(() => limiter.refund(check, units)),
    pause: (key, ms) => inTime(() => limiter.pause(key, ms)),
    renew: (key, token, leaseMs) => inTime(() => limiter.renew(key, token, leaseMs)),
    release: (key, token) => inTime(() => limiter.release(key, token)),
    close: async () => limiter.close(),
  }
}
