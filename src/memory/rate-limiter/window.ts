import type { LimitState, WindowCheck } from '../../ports/rate-limiter.ts'

/** One key's sliding window. Times are those of a clock that never steps back. */
export interface Window {
  /** What a check says now. Counts nothing. */
  judge(check: WindowCheck, now: number): LimitState
  /** What is left when nothing more is counted. */
  unused(check: WindowCheck, now: number): Pick<LimitState, 'remaining' | 'resetInMs'>
  /** Counts what a {@link judge} at the same time allowed. */
  take(check: WindowCheck, units: number, now: number): void
  /** True when nothing is remembered any more. */
  idle(now: number): boolean
}

/**
 * Below this limit every unit keeps its own millisecond, so the window is exact. Above it units of one short
 * interval share an entry that expires with its youngest: never too many, at most a 6000th of the window too late.
 */
const EXACT_UP_TO = 1024
const INTERVALS = 6000

/** A log of entries (when, how many) in a ring; the sum of those that have not expired is the window's count. */
export function createWindow({ limit, windowMs }: Pick<WindowCheck, 'limit' | 'windowMs'>): Window {
  const grain = limit <= EXACT_UP_TO ? 0 : windowMs / INTERVALS
  let times = new Float64Array(8)
  let units = new Float64Array(8)
  let head = 0
  let length = 0
  let count = 0
  let episode = Number.NEGATIVE_INFINITY

  const at = (index: number): number => (head + index) & (times.length - 1)
  const expiry = (index: number): number => (times[at(index)] ?? 0) + windowMs

  function expire(now: number): void {
    while (length > 0 && expiry(0) <= now) {
      count -= units[head] ?? 0
      head = at(1)
      length -= 1
    }
  }

  const stamp = (now: number): number => (grain === 0 ? now : Math.ceil(now / grain) * grain)

  function add(now: number, cost: number): void {
    const time = stamp(now)
    const last = at(length - 1)
    count += cost
    if (length > 0 && times[last] === time) {
      units[last] = (units[last] ?? 0) + cost
      return
    }
    if (length === times.length) grow()
    const slot = at(length)
    times[slot] = time
    units[slot] = cost
    length += 1
  }

  function grow(): void {
    const [oldTimes, oldUnits] = [times, units]
    times = new Float64Array(oldTimes.length * 2)
    units = new Float64Array(oldTimes.length * 2)
    for (let index = 0; index < length; index += 1) {
      const from = (head + index) & (oldTimes.length - 1)
      times[index] = oldTimes[from] ?? 0
      units[index] = oldUnits[from] ?? 0
    }
    head = 0
  }

  /** When the count will have fallen to `target`; now, if it has. */
  function fallsTo(target: number, now: number): number {
    let left = count
    for (let index = 0; left > target; index += 1) {
      if (index === length) return Number.POSITIVE_INFINITY
      left -= units[at(index)] ?? 0
      if (left <= target) return expiry(index)
    }
    return now
  }

  /** When the count, with `granted` new units, will have fallen to `target`: the new ones expire last. */
  function risesAt(target: number, granted: number, now: number): number {
    if (target < 0) return now
    return target < granted ? stamp(now) + windowMs : fallsTo(target - granted, now)
  }

  function resetIn(sustained: number, granted: number, now: number): number {
    return risesAt(Math.min(count + granted, sustained) - 1, granted, now) - now
  }

  /** How many units are allowed at `now`. */
  function room({ limit: sustained, burst, burstMs, windowMs: width }: WindowCheck, now: number): number {
    const sinceEpisode = now - episode
    const open = sinceEpisode >= width || sinceEpisode < burstMs
    return Math.max(0, (open ? burst : sustained) - count)
  }

  /** When `cost` units will be allowed. */
  function allowsAt(
    { limit: sustained, burst, burstMs, windowMs: width }: WindowCheck,
    cost: number,
    now: number,
  ): number {
    const asSustained = cost <= sustained ? fallsTo(sustained - cost, now) : Number.POSITIVE_INFINITY
    if (cost > burst) return Number.POSITIVE_INFINITY
    const fits = fallsTo(burst - cost, now)
    const asBurst = fits - episode < burstMs ? fits : Math.max(fits, episode + width)
    return Math.min(asSustained, asBurst)
  }

  return {
    judge(check, now) {
      expire(now)
      const { cost, limit: sustained, partial } = check
      const free = room(check, now)
      const granted = free >= cost ? cost : partial === true ? free : 0
      return {
        allowed: granted > 0,
        granted,
        remaining: Math.max(0, sustained - count - granted),
        resetInMs: resetIn(sustained, granted, now),
        retryAfterMs: granted > 0 ? 0 : allowsAt(check, partial === true ? 1 : cost, now) - now,
      }
    },
    unused: ({ limit: sustained }, now) => ({
      remaining: Math.max(0, sustained - count),
      resetInMs: resetIn(sustained, 0, now),
    }),
    take(check, taken, now) {
      // The unit that goes above the limit opens an episode, unless one is open.
      if (count + taken > check.limit && now - episode >= check.windowMs) episode = now
      add(now, taken)
    },
    idle(now) {
      expire(now)
      return length === 0 && now - episode >= windowMs
    },
  }
}
