import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { Observer } from './observer.ts'

/** Counts the decisions that a rate limiter did not make. */
export function observedLimiter(limiter: RateLimiter, observer: Observer): RateLimiter {
  return {
    async consume(checks) {
      try {
        const decision = await limiter.consume(checks)
        if (decision.uncounted === true) observer.record({ type: 'unjudged', answer: 'allowed' })
        return decision
      } catch (error) {
        observer.record({ type: 'unjudged', answer: 'failed' })
        throw error
      }
    },
    peek: (checks) => limiter.peek(checks),
    refund: (check, units) => limiter.refund(check, units),
    pause: (key, ms) => limiter.pause(key, ms),
    // Nobody is there to catch what one of the application's throws at once.
    renew: async (key, token, leaseMs) => limiter.renew(key, token, leaseMs),
    release: (key, token) => limiter.release(key, token),
    close: () => limiter.close(),
  }
}
