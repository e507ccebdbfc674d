import { assertOptionNames, objectWith } from '../errors/option-names.ts'
import { systemClock } from '../loop/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import type { LimitCheck, RateLimiter, WindowCheck } from '../ports/rate-limiter.ts'
import {
  consume,
  endsAt,
  type LimitRecord,
  newRecord,
  pause,
  peek,
  refund,
  release,
  renew,
} from './check-limits.ts'

/** Options of {@link memoryRateLimiter}. */
export interface MemoryRateLimiterOptions {
  /** Default: the runtime's. Uses the monotonic time, so that a step of the wall clock changes no limit. */
  readonly clock?: Clock | undefined
}

/** Idle keys are removed whenever the number of keys has doubled; this many are always kept. */
const SWEEP_FLOOR = 1_024

/** … and above that at this interval, to forget an attack from many addresses soon. */
const SWEEP_MS = 10_000

/**
 * Maximum number of windows for keys that strangers choose. Those of organizations are separate and unlimited.
 *
 * @internal for tests
 */
export const MAX_STRANGERS = 100_000

/**
 * A rate limiter in this process. Exact, and atomic because it awaits nothing between evaluating and counting.
 *
 * @example
 * const notifier = createNotifier({ channels: { email: provider }, rateLimiter: memoryRateLimiter() })
 */
export function memoryRateLimiter(options: MemoryRateLimiterOptions = {}): RateLimiter {
  assertOptionNames('memoryRateLimiter', options, { clock: objectWith('now', 'monotonic', 'timer') })
  const { clock = systemClock() } = options
  const windows = createKeyed()
  const strangers = createKeyed(MAX_STRANGERS)
  const slots = createKeyed()
  const pauses = createKeyed()

  /** The window of a check. Undefined: nothing is counted. */
  function knownWindow({ key, overflow }: WindowCheck): LimitRecord | undefined {
    if (overflow === undefined) return windows.peek(key)
    return strangers.peek(key) ?? windows.peek(overflow)
  }

  function windowOf(check: WindowCheck, now: number): LimitRecord {
    const { key, overflow } = check
    if (overflow !== undefined) {
      const kept = strangers.peek(key)
      if (kept !== undefined) return kept
      if (strangers.hasRoom(now)) return strangers.add(key, now, newRecord(check))
    }
    const name = overflow ?? key
    return windows.peek(name) ?? windows.add(name, now, newRecord(check))
  }

  function recordOf(check: LimitCheck, now: number): LimitRecord {
    switch (check.kind) {
      case 'window':
        return windowOf(check, now)
      case 'slots':
        return slots.peek(check.key) ?? slots.add(check.key, now, newRecord(check))
      case 'pause':
        return pauses.peek(check.key) ?? NEVER_PAUSED
    }
  }

  return {
    async consume(checks) {
      const now = clock.monotonic()
      const records = checks.map((check) => recordOf(check, now))
      return consume(records, checks, now)
    },
    async peek(checks) {
      const now = clock.monotonic()
      const records = checks.map((check) => recordOf(check, now))
      return peek(records, checks, now)
    },
    async refund(check, units) {
      const window = knownWindow(check)
      if (window !== undefined) refund(window, units, clock.monotonic())
    },
    async pause(key, ms) {
      const now = clock.monotonic()
      pause(pauses.peek(key) ?? pauses.add(key, now, newRecord({ kind: 'pause' })), ms, now)
    },
    async renew(key, token, leaseMs) {
      const held = slots.peek(key)
      return held !== undefined && renew(held, token, leaseMs, clock.monotonic())
    },
    async release(key, token) {
      const held = slots.peek(key)
      if (held !== undefined) release(held, token)
    },
    async close() {},
  }
}

const NEVER_PAUSED = newRecord({ kind: 'pause' })

interface Keyed {
  peek(key: string): LimitRecord | undefined
  hasRoom(now: number): boolean
  add(key: string, now: number, record: LimitRecord): LimitRecord
}

/** Records by key. Those that have ended are dropped at intervals that keep the scan cheap. */
function createKeyed(most = Number.POSITIVE_INFINITY): Keyed {
  const values = new Map<string, LimitRecord>()
  let sweepAt = SWEEP_FLOOR
  let sweptAt = Number.NEGATIVE_INFINITY

  function sweep(now: number): void {
    if (values.size < sweepAt && (values.size < SWEEP_FLOOR || now - sweptAt < SWEEP_MS)) return
    for (const [name, record] of values) if (endsAt(record) <= now) values.delete(name)
    sweepAt = Math.max(SWEEP_FLOOR, values.size * 2)
    sweptAt = now
  }

  return {
    peek: (key) => values.get(key),
    hasRoom(now) {
      sweep(now)
      return values.size < most
    },
    add(key, now, record) {
      sweep(now)
      values.set(key, record)
      return record
    },
  }
}
