import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { throttled } from '../../../src/core/loop/throttled.ts'
import type { LimitCheck, LimitDecision, LimitState } from '../../../src/core/ports/rate-limiter.ts'

/** The identity of a check. */
export type CheckName = Pick<LimitCheck, 'kind' | 'key'>

/** Behaviour while Redis is down. */
export type Unavailable = 'refuse' | 'allow' | ((check: CheckName) => 'refuse' | 'allow')

/** Decides without counting. */
export interface Fallback {
  /** @throws NotifierError `service_unavailable` if any check must be refused */
  decide(checks: readonly LimitCheck[], cause: unknown): LimitDecision
  /** @throws NotifierError `service_unavailable` if the check must be refused */
  pass(check: CheckName, cause: unknown): void
  /** Reports a failure. */
  report(cause: unknown): void
}

const RETRY_MS = 1_000

export function createFallback(unavailable: Unavailable, onError: (error: Error) => void): Fallback {
  const report = throttled(
    (cause) => onError(new Error(`The rate limiter cannot use Redis: ${messageOf(cause)}`, { cause })),
    () => performance.now(),
  )

  function pass(check: CheckName, cause: unknown): void {
    const answer = typeof unavailable === 'function' ? unavailable(check) : unavailable
    if (answer === 'allow') return
    throw new NotifierError('service_unavailable', {
      message: 'The rate limiter does not answer. Repeat the request after the seconds in Retry-After.',
      retryAfterMs: RETRY_MS,
      cause,
    })
  }

  return {
    report,
    pass(check, cause) {
      report(cause)
      pass(check, cause)
    },
    decide(checks, cause) {
      report(cause)
      for (const { kind, key } of checks) pass({ kind, key }, cause)
      return { allowed: true, states: checks.map(uncounted), uncounted: true }
    },
  }
}

/** The state of a check with nothing counted. */
function uncounted(check: LimitCheck): LimitState {
  const free = { allowed: true, resetInMs: 0, retryAfterMs: 0 }
  switch (check.kind) {
    case 'window':
      return { ...free, granted: check.cost, remaining: Math.max(0, check.limit - check.cost) }
    case 'slots':
      return { ...free, granted: 1, remaining: Math.max(0, check.limit - 1) }
    case 'pause':
      return { ...free, granted: 0, remaining: 0 }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
