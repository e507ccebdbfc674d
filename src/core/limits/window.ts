import type { LimitState, WindowCheck } from '../ports/rate-limiter.ts'

/**
 * Below this limit every unit has its own millisecond, so the window is exact. Above it, units of a short interval
 * share an entry that expires with its newest unit: never too many, and at most a 6000th of the window late.
 */
const EXACT_UP_TO = 1024
const INTERVALS = 6000
/** Before every time, and unlike minus infinity a number in JSON. */
const NEVER = -Number.MAX_SAFE_INTEGER
/** Fewer expired numbers are not worth moving the others. */
const MOST_EXPIRED = 32

/** The sliding window of a key. */
export interface WindowRecord {
  readonly kind: 'window'
  readonly windowMs: number
  /** From `head` on: a time, then the units that were counted at it, oldest first. Those before have expired. */
  readonly entries: number[]
  head: number
  /** The sum of the units. */
  count: number
  /** Start of the latest burst. */
  episode: number
}

export function newWindow(windowMs: number): WindowRecord {
  return { kind: 'window', windowMs, entries: [], head: 0, count: 0, episode: NEVER }
}

/** Evaluates a check without counting. */
export function evaluateWindow(window: WindowRecord, check: WindowCheck, now: number): LimitState {
  expire(window, now)
  const { cost, limit: sustained, partial } = check
  const free = room(window, check, now)
  const granted = free >= cost ? cost : partial === true ? free : 0
  return {
    allowed: granted > 0,
    granted,
    remaining: Math.max(0, sustained - window.count - granted),
    resetInMs: resetIn(window, sustained, granted, now),
    retryAfterMs: granted > 0 ? 0 : allowsAt(window, check, partial === true ? 1 : cost, now) - now,
  }
}

/** The rest if nothing more is counted. */
export function leftOfWindow(
  window: WindowRecord,
  { limit: sustained }: WindowCheck,
  now: number,
): Pick<LimitState, 'remaining' | 'resetInMs'> {
  return {
    remaining: Math.max(0, sustained - window.count),
    resetInMs: resetIn(window, sustained, 0, now),
  }
}

/** Counts units that {@link evaluateWindow} allowed at the same time. */
export function takeUnits(window: WindowRecord, check: WindowCheck, units: number, now: number): void {
  // The first unit above the limit opens an episode.
  if (window.count + units > check.limit && now - window.episode >= check.windowMs) window.episode = now
  const time = stamp(window, now, check.limit)
  const { entries } = window
  window.count += units
  if (entries.length > window.head && entries[entries.length - 2] === time) {
    entries[entries.length - 1] = (entries[entries.length - 1] ?? 0) + units
  } else {
    entries.push(time, units)
  }
}

/** Takes back the newest units. */
export function refundUnits(window: WindowRecord, units: number, now: number): void {
  expire(window, now)
  const { entries } = window
  for (let left = Math.min(units, window.count); left > 0; ) {
    const last = entries.length - 1
    const held = entries[last] ?? 0
    const taken = Math.min(left, held)
    if (held === taken) entries.length -= 2
    else entries[last] = held - taken
    window.count -= taken
    left -= taken
  }
}

/** The time from which the window equals a new one. */
export function windowEndsAt({ entries, head, episode, windowMs }: WindowRecord): number {
  const newest = entries.length > head ? (entries[entries.length - 2] ?? NEVER) : NEVER
  return Math.max(newest, episode) + windowMs
}

function expire(window: WindowRecord, now: number): void {
  const { entries, windowMs } = window
  while (window.head < entries.length && (entries[window.head] ?? 0) + windowMs <= now) {
    window.count -= entries[window.head + 1] ?? 0
    window.head += 2
  }
  if (window.head === entries.length) entries.length = 0
  else if (window.head <= MOST_EXPIRED || window.head * 2 <= entries.length) return
  else {
    entries.copyWithin(0, window.head)
    entries.length -= window.head
  }
  window.head = 0
}

/** By the limit of each call, which changes with the plan. Entries stay in order. */
function stamp({ entries, head, windowMs }: WindowRecord, now: number, limit: number): number {
  const grain = limit <= EXACT_UP_TO ? 0 : windowMs / INTERVALS
  const time = grain === 0 ? now : Math.ceil(now / grain) * grain
  return entries.length > head ? Math.max(time, entries[entries.length - 2] ?? 0) : time
}

/** The time when the count falls to `target`, or now. */
function fallsTo({ entries, head, count, windowMs }: WindowRecord, target: number, now: number): number {
  let left = count
  for (let index = head; left > target; index += 2) {
    if (index === entries.length) return Number.POSITIVE_INFINITY
    left -= entries[index + 1] ?? 0
    if (left <= target) return (entries[index] ?? 0) + windowMs
  }
  return now
}

/** Time until `remaining` rises, with `granted` new units, which expire last. */
function resetIn(window: WindowRecord, sustained: number, granted: number, now: number): number {
  const target = Math.min(window.count + granted, sustained) - 1
  if (target < 0) return 0
  if (target < granted) return stamp(window, now, sustained) + window.windowMs - now
  return fallsTo(window, target - granted, now) - now
}

/** Number of units allowed at `now`. */
function room(
  { count, episode }: WindowRecord,
  { limit: sustained, burst, burstMs, windowMs: width }: WindowCheck,
  now: number,
): number {
  const sinceEpisode = now - episode
  const open = sinceEpisode >= width || sinceEpisode < burstMs
  return Math.max(0, (open ? burst : sustained) - count)
}

/** The time when `cost` units are allowed. */
function allowsAt(
  window: WindowRecord,
  { limit: sustained, burst, burstMs, windowMs: width }: WindowCheck,
  cost: number,
  now: number,
): number {
  const asSustained = cost <= sustained ? fallsTo(window, sustained - cost, now) : Number.POSITIVE_INFINITY
  if (cost > burst) return Number.POSITIVE_INFINITY
  const fits = fallsTo(window, burst - cost, now)
  const asBurst = fits - window.episode < burstMs ? fits : Math.max(fits, window.episode + width)
  return Math.min(asSustained, asBurst)
}
