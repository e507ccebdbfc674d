import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { LimitCheck, LimitDecision, LimitState, RateLimiter } from '../../../src/ports/rate-limiter.ts'
import { type Connection, scriptOf } from './connection.ts'
import { DECIDE } from './decide-script.ts'
import { PAUSE, RELEASE, RENEW } from './hold-scripts.ts'
import { redisKey, tagOf } from './keys.ts'
import type { Fallback } from './unavailable.ts'

const scripts = {
  decide: scriptOf(DECIDE),
  pause: scriptOf(PAUSE),
  renew: scriptOf(RENEW),
  release: scriptOf(RELEASE),
}

/** What a limiter is made of. */
export interface LimiterParts {
  readonly connection: Connection
  readonly fallback: Fallback
  readonly prefix: string
  /** True: the keys of one call must have one tag. */
  isCluster(): boolean
  close(): Promise<void>
  /** Milliseconds now; only tests set it, everybody else takes the time of the server. */
  readonly now?: (() => number) | undefined
}

/** The port over scripts: every verb is one of them. */
export function createLimiter(parts: LimiterParts): RateLimiter {
  const { connection, fallback, prefix } = parts
  const time = (): string => (parts.now === undefined ? '' : String(parts.now()))

  async function judge(verb: 'consume' | 'peek', checks: readonly LimitCheck[]): Promise<LimitDecision> {
    if (checks.length === 0) return { allowed: true, states: [] }
    assertOneTag(checks)
    const args = [time(), verb]
    for (const check of checks) appendArguments(args, check)
    try {
      return parseDecision(await connection.run(scripts.decide, keysOf(checks), args))
    } catch (error) {
      if (isNotifierError(error)) throw error
      return fallback.decide(checks, error)
    }
  }

  function assertOneTag(checks: readonly LimitCheck[]): void {
    const [first] = checks
    if (first === undefined || !parts.isCluster()) return
    if (checks.every(({ key }) => tagOf(key) === tagOf(first.key))) return
    throw new NotifierError('invalid_configuration', {
      message: 'On a Redis Cluster the keys of one call must be the same up to their first colon.',
      details: { keys: checks.map(({ key }) => key) },
    })
  }

  function keysOf(checks: readonly LimitCheck[]): string[] {
    return checks.map(({ kind, key }) => redisKey(prefix, kind, key))
  }

  return {
    consume: (checks) => judge('consume', checks),
    peek: (checks) => judge('peek', checks),
    async pause(key, ms) {
      try {
        await connection.run(scripts.pause, [redisKey(prefix, 'pause', key)], [time(), String(ms)])
      } catch (error) {
        if (isNotifierError(error)) throw error
        fallback.pass({ kind: 'pause', key }, error)
      }
    },
    async renew(key, token, leaseMs) {
      try {
        const args = [time(), token, String(leaseMs)]
        return (await connection.run(scripts.renew, [redisKey(prefix, 'slots', key)], args)) === 1
      } catch (error) {
        if (isNotifierError(error)) throw error
        fallback.pass({ kind: 'slots', key }, error)
        return true
      }
    },
    async release(key, token) {
      try {
        await connection.run(scripts.release, [redisKey(prefix, 'slots', key)], [time(), token])
      } catch (error) {
        if (isNotifierError(error)) throw error
        // The slot comes back by itself when its lease ends: nobody has to handle that.
        fallback.report(error)
      }
    },
    close: parts.close,
  }
}

function appendArguments(args: string[], check: LimitCheck): void {
  args.push(check.kind)
  if (check.kind === 'window') {
    const { limit, windowMs, burst, burstMs, cost, partial } = check
    for (const value of [limit, windowMs, burst, burstMs, cost]) args.push(String(value))
    args.push(partial === true ? '1' : '0')
  } else if (check.kind === 'slots') {
    args.push(String(check.limit), check.token, String(check.leaseMs))
  }
}

/** Numbers of one state in the reply. */
const FIELDS = 5

function parseDecision(reply: unknown): LimitDecision {
  const numbers = String(reply).trimEnd().split(' ')
  const states: LimitState[] = []
  let allAllowed = true
  for (let at = 0; at < numbers.length; at += FIELDS) {
    const field = (place: number): number => numberOf(numbers[at + place] ?? '0')
    const allowed = numbers[at] === '1'
    states.push({
      allowed,
      granted: field(1),
      remaining: field(2),
      resetInMs: field(3) / 1_000,
      retryAfterMs: field(4) / 1_000,
    })
    allAllowed &&= allowed
  }
  return { allowed: allAllowed, states }
}

function numberOf(text: string): number {
  return text === 'inf' ? Number.POSITIVE_INFINITY : Number(text)
}
