import type { WindowCheck } from '../../core/ports/rate-limiter.ts'

/** The simplest form of the burst rule: a list of everything counted. */
export interface ReferenceWindow {
  allows(check: WindowCheck, now: number): boolean
  /** Counts if allowed. */
  consume(check: WindowCheck, now: number): boolean
  /** Takes back the newest counted units. */
  refund(check: WindowCheck, units: number, now: number): void
}

export function referenceWindow(): ReferenceWindow {
  const times: number[] = []
  let episode = Number.NEGATIVE_INFINITY

  function allows({ cost, limit, burst, burstMs, windowMs }: WindowCheck, now: number): boolean {
    const after = times.filter((time) => time > now - windowMs).length + cost
    if (after <= limit) return true
    if (after > burst) return false
    return now - episode >= windowMs || now - episode < burstMs
  }

  return {
    allows,
    consume(check, now) {
      if (!allows(check, now)) return false
      const before = times.filter((time) => time > now - check.windowMs).length
      if (before + check.cost > check.limit && now - episode >= check.windowMs) episode = now
      for (let unit = 0; unit < check.cost; unit += 1) times.push(now)
      return true
    },
    refund(check, units, now) {
      const counting = times.filter((time) => time > now - check.windowMs).length
      times.splice(times.length - Math.min(units, counting))
    },
  }
}
