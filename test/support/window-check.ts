import type { WindowCheck } from '../../src/core/ports/rate-limiter.ts'

/** A limit of units in a minute, without a burst. Default: 10. */
export function windowCheck(change: Partial<WindowCheck> = {}): WindowCheck {
  const limit = change.limit ?? 10
  return {
    kind: 'window',
    key: 'org_a:w',
    limit,
    windowMs: 60_000,
    burst: limit,
    burstMs: 0,
    cost: 1,
    ...change,
  }
}
