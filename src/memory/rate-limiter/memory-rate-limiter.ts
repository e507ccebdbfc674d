import type { Clock } from '../../ports/clock.ts'
import type {
  LimitCheck,
  LimitDecision,
  LimitState,
  RateLimiter,
  WindowCheck,
} from '../../ports/rate-limiter.ts'
import { systemClock } from '../system-clock.ts'
import { createSlots, type Slots } from './slots.ts'
import { createWindow, type Window } from './window.ts'

/** Options of {@link memoryRateLimiter}. */
export interface MemoryRateLimiterOptions {
  /** Default: the runtime's. Its monotonic time is used, so that a step of the wall clock changes no limit. */
  readonly clock?: Clock | undefined
}

/** Keys are looked through for idle ones whenever their number has doubled; so many are always kept. */
const SWEEP_FLOOR = 1_024

/** A rate limiter in this process. Exact; nothing is awaited between judging and counting, so it is atomic. */
export function memoryRateLimiter({ clock = systemClock() }: MemoryRateLimiterOptions = {}): RateLimiter {
  const windows = createKeyed<Window>()
  const slots = createKeyed<Slots>()
  const pauses = createKeyed<{ until: number; idle(now: number): boolean }>()

  const windowOf = (check: WindowCheck, now: number): Window =>
    windows.get(check.key, now, () => createWindow(check))
  const slotsOf = (key: string, now: number): Slots => slots.get(key, now, createSlots)

  function judge(check: LimitCheck, now: number): LimitState {
    switch (check.kind) {
      case 'window':
        return windowOf(check, now).judge(check, now)
      case 'slots':
        return slotsOf(check.key, now).judge(check, now)
      case 'pause': {
        const leftMs = Math.max(0, (pauses.peek(check.key)?.until ?? 0) - now)
        return { allowed: leftMs === 0, granted: 0, remaining: 0, resetInMs: leftMs, retryAfterMs: leftMs }
      }
    }
  }

  function take(check: LimitCheck, { granted }: LimitState, now: number): void {
    if (check.kind === 'window') windowOf(check, now).take(check, granted, now)
    else if (check.kind === 'slots') slotsOf(check.key, now).take(check, now)
  }

  function decide(checks: readonly LimitCheck[], now: number): LimitDecision {
    const states = checks.map((check) => judge(check, now))
    return { allowed: states.every(({ allowed }) => allowed), states }
  }

  return {
    async consume(checks) {
      const now = clock.monotonic()
      const decision = decide(checks, now)
      if (!decision.allowed) return { allowed: false, states: uncounted(decision.states, checks, now) }
      for (const [index, check] of checks.entries()) take(check, decision.states[index] as LimitState, now)
      return decision
    },
    async peek(checks) {
      return decide(checks, clock.monotonic())
    },
    async pause(key, ms) {
      const now = clock.monotonic()
      const pause = pauses.get(key, now, () => ({ until: 0, idle: (time) => pause.until <= time }))
      pause.until = Math.max(pause.until, now + ms)
    },
    async renew(key, token, leaseMs) {
      return slots.peek(key)?.renew(token, leaseMs, clock.monotonic()) ?? false
    },
    async release(key, token) {
      slots.peek(key)?.release(token)
    },
    async close() {},
  }

  /** What the checks that would have allowed say when nothing was counted. */
  function uncounted(
    states: readonly LimitState[],
    checks: readonly LimitCheck[],
    now: number,
  ): LimitState[] {
    return states.map((state, index) => {
      const check = checks[index]
      if (check?.kind !== 'window' || state.granted === 0) return { ...state, granted: 0 }
      const none = windowOf(check, now).unused(check, now)
      return { ...state, ...none, granted: 0 }
    })
  }
}

interface Keyed<Value> {
  get(key: string, now: number, create: () => Value): Value
  peek(key: string): Value | undefined
}

/** Values by key; idle ones are dropped when the number of keys has doubled, so that looking through them is cheap. */
function createKeyed<Value extends { idle(now: number): boolean }>(): Keyed<Value> {
  const values = new Map<string, Value>()
  let sweepAt = SWEEP_FLOOR
  return {
    get(key, now, create) {
      const known = values.get(key)
      if (known !== undefined) return known
      if (values.size >= sweepAt) {
        for (const [name, value] of values) if (value.idle(now)) values.delete(name)
        sweepAt = Math.max(SWEEP_FLOOR, values.size * 2)
      }
      const value = create()
      values.set(key, value)
      return value
    },
    peek: (key) => values.get(key),
  }
}
