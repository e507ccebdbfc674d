import { isNotifierError, NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type {
  LimitCheck,
  LimitDecision,
  LimitState,
  RateLimiter,
  SlotCheck,
} from '../../../src/core/ports/rate-limiter.ts'
import { createCalls, type Reply, type Result } from './calls.ts'
import type { Connection } from './connection.ts'
import { tagOf } from './keys.ts'
import { createPendingReleases } from './pending-releases.ts'
import type { CheckName, Fallback } from './unavailable.ts'

/** Dependencies of a limiter. */
export interface LimiterServices {
  readonly connection: Connection
  readonly fallback: Fallback
  readonly prefix: string
  /** True: all keys of one call must share a tag. */
  isCluster(): boolean
  open(): Promise<void>
  close(): Promise<void>
  /** Milliseconds now, for tests. Default: the server's clock. */
  readonly now?: (() => number) | undefined
}

/** Implements the port with one script that knows every verb. */
export function createLimiter(services: LimiterServices): RateLimiter {
  const { connection, fallback, prefix } = services
  const ask = createCalls({
    connection,
    prefix,
    isCluster: services.isCluster,
    time: () => (services.now === undefined ? '' : String(services.now())),
  })

  const pending = createPendingReleases(async (key, token) => {
    const result = await release(key, token)
    return !('error' in result) || isNotifierError(result.error)
  })

  function release(key: string, token: string): Promise<Result> {
    return ask({
      verb: 'release',
      keys: [{ kind: 'slots', key }],
      name: key,
      tokens: [token],
      values: () => [],
    })
  }

  async function decide(verb: 'consume' | 'peek', checks: readonly LimitCheck[]): Promise<LimitDecision> {
    if (checks.length === 0) return { allowed: true, states: [] }
    assertOneTag(checks)
    const slots = verb === 'consume' ? checks.filter(isSlot) : []
    for (const { token } of slots) pending.drop(token)
    const result = await ask({
      verb,
      keys: checks,
      name: checks.map(nameOf).join(' '),
      tokens: checks.flatMap((check) => (check.kind === 'slots' ? check.token : [])),
      values: () => checks.flatMap(valuesOf),
    })
    if (!('error' in result)) return parseDecision(result)
    if (isNotifierError(result.error)) throw result.error
    for (const { key, token } of slots) pending.add(key, token)
    return fallback.decide(checks, result.error)
  }

  function assertOneTag(checks: readonly LimitCheck[]): void {
    const [first] = checks
    if (first === undefined || !services.isCluster()) return
    if (checks.every(({ key }) => tagOf(key) === tagOf(first.key))) return
    throw new NotifierError('invalid_configuration', {
      message: 'On a Redis Cluster the keys of one call must be the same up to their first colon.',
      details: { keys: checks.map(({ key }) => key) },
    })
  }

  function passed(check: CheckName, error: unknown): void {
    if (isNotifierError(error)) throw error
    fallback.pass(check, error)
  }

  return {
    consume: (checks) => decide('consume', checks),
    peek: (checks) => decide('peek', checks),
    async refund({ key, windowMs }, units) {
      const result = await ask({
        verb: 'refund',
        keys: [{ kind: 'window', key }],
        name: `${windowMs} ${units} ${key}`,
        tokens: [],
        values: () => [String(windowMs), String(units)],
      })
      if (!('error' in result)) return
      if (isNotifierError(result.error)) throw result.error
      // Callers need not handle this: the units expire.
      fallback.report(result.error)
    },
    async pause(key, ms) {
      const check = { kind: 'pause', key } as const
      const result = await ask({
        verb: 'pause',
        keys: [check],
        name: `${ms} ${key}`,
        tokens: [],
        values: () => [String(ms)],
      })
      if ('error' in result) passed(check, result.error)
    },
    async renew(key, token, leaseMs) {
      const check = { kind: 'slots', key } as const
      const result = await ask({
        verb: 'renew',
        keys: [check],
        name: `${leaseMs} ${key}`,
        tokens: [token],
        values: () => [String(leaseMs)],
      })
      if (!('error' in result)) return result.words[result.index] === '1'
      passed(check, result.error)
      return true
    },
    async release(key, token) {
      const result = await release(key, token)
      if (!('error' in result)) {
        pending.drop(token)
        return
      }
      if (isNotifierError(result.error)) throw result.error
      // Callers need not handle this: the slot is released later.
      pending.add(key, token)
      fallback.report(result.error)
    },
    open: services.open,
    close() {
      pending.close()
      return services.close()
    },
  }
}

function isSlot(check: LimitCheck): check is SlotCheck {
  return check.kind === 'slots'
}

/** Everything of a check except its token. The length delimits the key, whose text is arbitrary. */
function nameOf(check: LimitCheck): string {
  const name = `${check.kind} ${check.key.length} ${check.key}`
  switch (check.kind) {
    case 'window':
      return `${name} ${check.limit} ${check.windowMs} ${check.burst} ${check.burstMs} ${check.cost} ${check.partial === true}`
    case 'slots':
      return `${name} ${check.limit} ${check.leaseMs}`
    case 'pause':
      return name
  }
}

function valuesOf(check: LimitCheck): string[] {
  switch (check.kind) {
    case 'window': {
      const { limit, windowMs, burst, burstMs, cost, partial } = check
      return ['window', ...[limit, windowMs, burst, burstMs, cost].map(String), partial === true ? '1' : '0']
    }
    case 'slots':
      return ['slots', String(check.limit), String(check.leaseMs)]
    case 'pause':
      return ['pause']
  }
}

/** Numbers per state in the reply. */
const FIELDS = 5

function parseDecision({ words, index, count }: Reply): LimitDecision {
  const length = words.length / count
  const states: LimitState[] = []
  let allAllowed = true
  for (let at = index * length; at < (index + 1) * length; at += FIELDS) {
    const field = (place: number): number => numberOf(words[at + place] ?? '0')
    const allowed = words[at] === '1'
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
