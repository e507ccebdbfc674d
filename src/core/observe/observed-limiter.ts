import { checkedDecision } from '../limits/decision.ts'
import { OPEN_MS } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { Observer } from './observer.ts'
import { watched } from './plugin-calls.ts'

/** The same rate limiter with timeouts. An invalid decision becomes a rejection; missing ones are counted. */
export function observedLimiter(limiter: RateLimiter, observer: Observer, clock: Clock): RateLimiter {
  const inTime = { withinMs: 10_000 }
  return watched<RateLimiter>(
    'rate limiter',
    limiter,
    {
      open: { withinMs: OPEN_MS },
      consume: {
        ...inTime,
        answered(answer, [checks]) {
          const decision = checkedDecision('consume', checks, answer)
          if (decision.uncounted === true) observer.record({ type: 'unjudged', answer: 'allowed' })
          return decision
        },
        failed: () => observer.record({ type: 'unjudged', answer: 'failed' }),
      },
      peek: { ...inTime, answered: (answer, [checks]) => checkedDecision('peek', checks, answer) },
      refund: inTime,
      pause: inTime,
      renew: inTime,
      release: inTime,
      close: {},
    },
    clock,
  )
}
