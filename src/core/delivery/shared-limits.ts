import { checkedDecision } from '../limits/decision.ts'
import { throttled } from '../loop/throttled.ts'
import type { Clock } from '../ports/clock.ts'
import type { LimitCheck, LimitDecision, LimitState, RateLimiter } from '../ports/rate-limiter.ts'
import { GRANT_MS } from './provider-limits.ts'

/** The limits that providers share over processes. Never rejects, and never waits long. */
export interface SharedLimits {
  consume(checks: readonly LimitCheck[]): Promise<LimitDecision>
  peek(checks: readonly LimitCheck[]): Promise<LimitDecision>
  pause(key: string, ms: number): void
  release(key: string, token: string): void
}

/** Timeout of the limiter, because claims wait for it. */
const ANSWER_MS = 1_000
/** Interval before a limiter that timed out is called again. */
const AWAY_MS = 5_000

/**
 * Asks the shared limiter; while it is away, the limiter of this process, so that delivery continues. Counts and pauses
 * known to this process are kept in both.
 */
export function createSharedLimits(
  shared: RateLimiter,
  local: RateLimiter,
  clock: Clock,
  onError: (error: unknown) => void,
): SharedLimits {
  let awayUntil = 0
  const tell = throttled(
    (cause) => {
      const message =
        'The rate limiter does not answer: rates and pauses of providers are those of this process only.'
      onError(new Error(message, { cause }))
    },
    () => clock.monotonic(),
  )

  const away = (): boolean => clock.monotonic() < awayUntil

  function lost(cause: unknown): void {
    awayUntil = clock.monotonic() + AWAY_MS
    tell(cause)
  }

  async function ask<Answer>(question: (limiter: RateLimiter) => Promise<Answer>): Promise<Answer | null> {
    if (away()) return null
    let cancel = (): void => {}
    const late = new Promise<never>((_resolve, reject) => {
      // Reads pending answers first: a blocked event loop is not a silent limiter.
      cancel = clock.timer(ANSWER_MS, () =>
        setImmediate(() => reject(new Error(`No answer within ${ANSWER_MS} ms.`))),
      )
    })
    try {
      return await Promise.race([question(shared), late])
    } catch (error) {
      lost(error)
      return null
    } finally {
      cancel()
    }
  }

  /**
   * Counts granted units in the local limiter, too. If the shared one allows everything while its server is away, the
   * local one refuses what exceeds the limit in this process. It is slightly more lenient, because the clocks differ.
   */
  async function confirmed(check: LimitCheck, state: LimitState): Promise<LimitState> {
    if (check.kind !== 'window' || state.granted === 0) return state
    const same = { ...check, cost: state.granted }
    const less = { ...same, key: `${check.key}.own`, windowMs: check.windowMs - GRANT_MS }
    const own = (await local.consume([less])).states[0] ?? state
    await local.consume([same])
    return own.granted < state.granted ? own : state
  }

  return {
    async consume(checks) {
      const decision = await ask(async (limiter) =>
        checkedDecision('consume', checks, await limiter.consume(checks)),
      )
      if (decision === null) return local.consume(checks)
      const states = await Promise.all(
        decision.states.map((state, index) => confirmed(checks[index] as LimitCheck, state)),
      )
      return { allowed: states.every(({ allowed }) => allowed), states }
    },
    async peek(checks) {
      const decision = await ask(async (limiter) =>
        checkedDecision('peek', checks, await limiter.peek(checks)),
      )
      return decision ?? local.peek(checks)
    },
    pause(key, ms) {
      void ask((limiter) => limiter.pause(key, ms))
      void local.pause(key, ms)
    },
    release(key, token) {
      void ask((limiter) => limiter.release(key, token))
      void local.release(key, token)
    },
  }
}
