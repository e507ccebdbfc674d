import type { LimitState, WindowCheck } from '../../ports/rate-limiter.ts'

/**
 * Below this limit every unit has its own millisecond, so the window is exact. Above it, units of a short interval
 * share an entry that expires with its newest unit: never too many, and at most a 6000th of the window late.
 */
const EXACT_UP_TO = 1024
const INTERVALS = 6000
const NONE = new Float64Array()

/**
 * The sliding window of a key: entries (time, count) in a ring, with the sum of unexpired units. Uses a monotonic
 * clock.
 *
 * A class, so that a window needs no closures: strangers can create as many as they have addresses.
 */
export class Window {
  readonly #windowMs: number
  #times: Float64Array = NONE
  #units: Float64Array = NONE
  #head = 0
  #length = 0
  #count = 0
  #episode: number = Number.NEGATIVE_INFINITY

  constructor({ windowMs }: Pick<WindowCheck, 'windowMs'>) {
    this.#windowMs = windowMs
  }

  /** Evaluates a check without counting. */
  judge(check: WindowCheck, now: number): LimitState {
    this.#expire(now)
    const { cost, limit: sustained, partial } = check
    const free = this.#room(check, now)
    const granted = free >= cost ? cost : partial === true ? free : 0
    return {
      allowed: granted > 0,
      granted,
      remaining: Math.max(0, sustained - this.#count - granted),
      resetInMs: this.#resetIn(sustained, granted, now),
      retryAfterMs: granted > 0 ? 0 : this.#allowsAt(check, partial === true ? 1 : cost, now) - now,
    }
  }

  /** The state if nothing more is counted. */
  unused({ limit: sustained }: WindowCheck, now: number): Pick<LimitState, 'remaining' | 'resetInMs'> {
    return {
      remaining: Math.max(0, sustained - this.#count),
      resetInMs: this.#resetIn(sustained, 0, now),
    }
  }

  /** Counts units that {@link judge} allowed at the same time. */
  take(check: WindowCheck, units: number, now: number): void {
    // The first unit above the limit opens an episode.
    if (this.#count + units > check.limit && now - this.#episode >= check.windowMs) this.#episode = now
    this.#add(this.#stamp(now, check.limit), units)
  }

  /** Takes back the newest units. */
  refund(units: number, now: number): void {
    this.#expire(now)
    for (let left = Math.min(units, this.#count); left > 0; ) {
      const last = this.#at(this.#length - 1)
      const held = this.#units[last] ?? 0
      const taken = Math.min(left, held)
      this.#units[last] = held - taken
      if (held === taken) this.#length -= 1
      this.#count -= taken
      left -= taken
    }
  }

  /** True: nothing is counted. */
  idle(now: number): boolean {
    this.#expire(now)
    return this.#length === 0 && now - this.#episode >= this.#windowMs
  }

  #at(index: number): number {
    return (this.#head + index) & (this.#times.length - 1)
  }

  #expiry(index: number): number {
    return (this.#times[this.#at(index)] ?? 0) + this.#windowMs
  }

  #expire(now: number): void {
    while (this.#length > 0 && this.#expiry(0) <= now) {
      this.#count -= this.#units[this.#head] ?? 0
      this.#head = this.#at(1)
      this.#length -= 1
    }
  }

  /** By the limit of each call, which changes with the plan. Entries stay in order. */
  #stamp(now: number, limit: number): number {
    const grain = limit <= EXACT_UP_TO ? 0 : this.#windowMs / INTERVALS
    const time = grain === 0 ? now : Math.ceil(now / grain) * grain
    return this.#length === 0 ? time : Math.max(time, this.#times[this.#at(this.#length - 1)] ?? 0)
  }

  #add(time: number, cost: number): void {
    const last = this.#at(this.#length - 1)
    this.#count += cost
    if (this.#length > 0 && this.#times[last] === time) {
      this.#units[last] = (this.#units[last] ?? 0) + cost
      return
    }
    if (this.#length === this.#times.length) this.#grow()
    const slot = this.#at(this.#length)
    this.#times[slot] = time
    this.#units[slot] = cost
    this.#length += 1
  }

  /** The ring's length is a power of two. */
  #grow(): void {
    const [oldTimes, oldUnits] = [this.#times, this.#units]
    const size = Math.max(1, oldTimes.length * 2)
    const times = new Float64Array(size)
    const units = new Float64Array(size)
    for (let index = 0; index < this.#length; index += 1) {
      const from = (this.#head + index) & (oldTimes.length - 1)
      times[index] = oldTimes[from] ?? 0
      units[index] = oldUnits[from] ?? 0
    }
    this.#times = times
    this.#units = units
    this.#head = 0
  }

  /** The time when the count falls to `target`, or now. */
  #fallsTo(target: number, now: number): number {
    let left = this.#count
    for (let index = 0; left > target; index += 1) {
      if (index === this.#length) return Number.POSITIVE_INFINITY
      left -= this.#units[this.#at(index)] ?? 0
      if (left <= target) return this.#expiry(index)
    }
    return now
  }

  /** Time until `remaining` rises, with `granted` new units, which expire last. */
  #resetIn(sustained: number, granted: number, now: number): number {
    const target = Math.min(this.#count + granted, sustained) - 1
    if (target < 0) return 0
    if (target < granted) return this.#stamp(now, sustained) + this.#windowMs - now
    return this.#fallsTo(target - granted, now) - now
  }

  /** Number of units allowed at `now`. */
  #room({ limit: sustained, burst, burstMs, windowMs: width }: WindowCheck, now: number): number {
    const sinceEpisode = now - this.#episode
    const open = sinceEpisode >= width || sinceEpisode < burstMs
    return Math.max(0, (open ? burst : sustained) - this.#count)
  }

  /** The time when `cost` units are allowed. */
  #allowsAt(
    { limit: sustained, burst, burstMs, windowMs: width }: WindowCheck,
    cost: number,
    now: number,
  ): number {
    const asSustained = cost <= sustained ? this.#fallsTo(sustained - cost, now) : Number.POSITIVE_INFINITY
    if (cost > burst) return Number.POSITIVE_INFINITY
    const fits = this.#fallsTo(burst - cost, now)
    const asBurst = fits - this.#episode < burstMs ? fits : Math.max(fits, this.#episode + width)
    return Math.min(asSustained, asBurst)
  }
}
