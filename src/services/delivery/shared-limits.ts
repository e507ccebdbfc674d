import { throttled } from '../../domain/throttled.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LimitCheck, LimitDecision, LimitState, RateLimiter } from '../../ports/rate-limiter.ts'
import { judged } from '../limits/decision.ts'
import { GRANT_MS } from './provider-limits.ts'

/** What providers share over processes. Never rejects, and never waits long. */
export interface SharedLimits {
  consume(checks: readonly LimitCheck[]): Promise<LimitDecision>
  peek(checks: readonly LimitCheck[]): Promise<LimitDecision>
  pause(key: string, ms: number): void
  release(key: string, token: string): void
}

/** A limiter that takes longer is away: claims wait for it. */
const ANSWER_MS = 1_000
/** How long it is then left alone. */
const AWAY_MS = 5_000

/**
 * Asks the limiter that all processes share; while it is away, one of this process alone, so that delivery goes on.
 * What is counted and paused in the first is so in the second, too, as far as this process knows of it.
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
        'The rate limiter does not answer: paces and pauses of providers are those of this process alone.'
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
      // What has come is read first: a turn of this process that took long is no silence of the limiter.
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
   * Counts here, too, what was granted there. A limiter may be told to allow everything while its server is away: what
   * this process alone would be too much is too much. Measured by a little less, because the clocks of both differ.
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
      const decision = await ask(async (limiter) => judged('consume', checks, await limiter.consume(checks)))
      if (decision === null) return local.consume(checks)
      const states = await Promise.all(
        decision.states.map((state, index) => confirmed(checks[index] as LimitCheck, state)),
      )
      return { allowed: states.every(({ allowed }) => allowed), states }
    },
    async peek(checks) {
      const decision = await ask(async (limiter) => judged('peek', checks, await limiter.peek(checks)))
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
