import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { Observer } from './observer.ts'

/** Counts the decisions that a rate limiter did not make. What one throws at once is a rejection, as the port says. */
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
    peek: async (checks) => limiter.peek(checks),
    refund: async (check, units) => limiter.refund(check, units),
    pause: async (key, ms) => limiter.pause(key, ms),
    renew: async (key, token, leaseMs) => limiter.renew(key, token, leaseMs),
    release: async (key, token) => limiter.release(key, token),
    close: async () => limiter.close(),
  }
}
