import type { LimitCheck, RateLimiter, SlotCheck, WindowCheck } from '../../core/ports/rate-limiter.ts'
import { skippable, type TestApi } from '../test-api.ts'
import { witnessed } from '../witness.ts'

/** A limiter under test, with control over its clock. */
export interface RateLimiterHarness {
  readonly limiter: RateLimiter
  /**
   * Another instance with the same counts and time, as in another process. Null: the limiter counts in one process
   * only.
   */
  readonly second: RateLimiter | null
  /** Advances the limiter's time. */
  advance(ms: number): Promise<void> | void
}

/** Declares a test with its own limiter. */
export type Check = (name: string, run: (harness: RateLimiterHarness) => Promise<void>) => void

export function checkWith(test: TestApi, create: () => Promise<RateLimiterHarness>): Check {
  return function check(name, run) {
    skippable(test)(name, async () => {
      const harness = await create()
      try {
        await witnessed(harness, [], run)
      } finally {
        await harness.limiter.close()
        await harness.second?.close()
      }
    })
  }
}

export const MINUTE = 60_000

export function requests(change: Partial<WindowCheck> = {}): WindowCheck {
  return {
    kind: 'window',
    key: 'org_a:requests',
    limit: 10,
    windowMs: MINUTE,
    burst: 12,
    burstMs: 10_000,
    cost: 1,
    ...change,
  }
}

export function slots(token: string, change: Partial<SlotCheck> = {}): SlotCheck {
  return { kind: 'slots', key: 'org_a:slots', limit: 2, token, leaseMs: 30_000, ...change }
}

export const PAUSE: LimitCheck = { kind: 'pause', key: 'org_a:account' }
