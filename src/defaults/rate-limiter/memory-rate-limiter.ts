import { assertOptionNames, objectWith } from '../../domain/errors/option-names.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LimitCheck, LimitState, RateLimiter, WindowCheck } from '../../ports/rate-limiter.ts'
import { systemClock } from '../system-clock.ts'
import { createSlots, type Slots } from './slots.ts'
import { Window } from './window.ts'

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

/** A rate limiter in this process. Exact, and atomic because it awaits nothing between judging and counting. */
export function memoryRateLimiter(options: MemoryRateLimiterOptions = {}): RateLimiter {
  assertOptionNames('memoryRateLimiter', options, { clock: objectWith('now', 'monotonic', 'timer') })
  const { clock = systemClock() } = options
  const windows = createKeyed<Window>()
  const strangers = createKeyed<Window>(MAX_STRANGERS)
  const slots = createKeyed<Slots>()
  const pauses = createKeyed<Pause>()

  /** The window of a check. Undefined: nothing is counted. */
  function knownWindow({ key, overflow }: WindowCheck): Window | undefined {
    if (overflow === undefined) return windows.peek(key)
    return strangers.peek(key) ?? windows.peek(overflow)
  }

  function windowOf(check: WindowCheck, now: number): Window {
    const { key, overflow } = check
    if (overflow !== undefined) {
      const kept = strangers.peek(key)
      if (kept !== undefined) return kept
      if (strangers.hasRoom(now)) return strangers.add(key, now, new Window(check))
    }
    const name = overflow ?? key
    return windows.peek(name) ?? windows.add(name, now, new Window(check))
  }

  /** The state that a check concerns, found once for judging and counting. */
  function subjectOf(check: LimitCheck, now: number): Subject {
    switch (check.kind) {
      case 'window':
        return windowOf(check, now)
      case 'slots':
        return slots.peek(check.key) ?? slots.add(check.key, now, createSlots())
      case 'pause':
        return pauses.peek(check.key) ?? NEVER_PAUSED
    }
  }

  function judge(check: LimitCheck, subject: Subject, now: number): LimitState {
    switch (check.kind) {
      case 'window':
        return (subject as Window).judge(check, now)
      case 'slots':
        return (subject as Slots).judge(check, now)
      case 'pause': {
        const leftMs = Math.max(0, (subject as Pause).until - now)
        return leftMs === 0
          ? NOT_PAUSED
          : { allowed: false, granted: 0, remaining: 0, resetInMs: leftMs, retryAfterMs: leftMs }
      }
    }
  }

  function take(check: LimitCheck, subject: Subject, { granted }: LimitState, now: number): void {
    if (check.kind === 'window') (subject as Window).take(check, granted, now)
    else if (check.kind === 'slots') (subject as Slots).take(check, now)
  }

  /** The state of an allowed check in a refused call: nothing is counted. */
  function uncounted(check: LimitCheck, subject: Subject, state: LimitState, now: number): LimitState {
    const left = check.kind === 'window' ? (subject as Window).unused(check, now) : {}
    return { ...state, ...left, granted: 0 }
  }

  return {
    async consume(checks) {
      const now = clock.monotonic()
      const subjects: Subject[] = []
      const states: LimitState[] = []
      let allowed = true
      // Every check is judged before any is counted.
      for (let index = 0; index < checks.length; index += 1) {
        const check = checks[index] as LimitCheck
        const subject = subjectOf(check, now)
        const state = judge(check, subject, now)
        subjects.push(subject)
        states.push(state)
        if (!state.allowed) allowed = false
      }
      for (let index = 0; index < checks.length; index += 1) {
        const check = checks[index] as LimitCheck
        const subject = subjects[index] as Subject
        if (allowed) take(check, subject, states[index] as LimitState, now)
        else states[index] = uncounted(check, subject, states[index] as LimitState, now)
      }
      return { allowed, states }
    },
    async peek(checks) {
      const now = clock.monotonic()
      const states = checks.map((check) => judge(check, subjectOf(check, now), now))
      return { allowed: states.every(({ allowed }) => allowed), states }
    },
    async refund(check, units) {
      knownWindow(check)?.refund(units, clock.monotonic())
    },
    async pause(key, ms) {
      const now = clock.monotonic()
      const pause = pauses.peek(key) ?? pauses.add(key, now, createPause())
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
}

type Subject = Window | Slots | Pause

interface Pause {
  until: number
  idle(now: number): boolean
}

function createPause(): Pause {
  const pause: Pause = { until: 0, idle: (now) => pause.until <= now }
  return pause
}

const NEVER_PAUSED: Pause = createPause()
const NOT_PAUSED: LimitState = { allowed: true, granted: 0, remaining: 0, resetInMs: 0, retryAfterMs: 0 }

interface Keyed<Value> {
  peek(key: string): Value | undefined
  hasRoom(now: number): boolean
  add(key: string, now: number, value: Value): Value
}

/** Values by key. Idle ones are dropped at intervals that keep the scan cheap. */
function createKeyed<Value extends { idle(now: number): boolean }>(
  most = Number.POSITIVE_INFINITY,
): Keyed<Value> {
  const values = new Map<string, Value>()
  let sweepAt = SWEEP_FLOOR
  let sweptAt = Number.NEGATIVE_INFINITY

  function sweep(now: number): void {
    if (values.size < sweepAt && (values.size < SWEEP_FLOOR || now - sweptAt < SWEEP_MS)) return
    for (const [name, known] of values) if (known.idle(now)) values.delete(name)
    sweepAt = Math.max(SWEEP_FLOOR, values.size * 2)
    sweptAt = now
  }

  return {
    peek: (key) => values.get(key),
    hasRoom(now) {
      sweep(now)
      return values.size < most
    },
    add(key, now, value) {
      sweep(now)
      values.set(key, value)
      return value
    },
  }
}
