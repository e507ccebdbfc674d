import type { LimitState, SlotCheck } from '../../ports/rate-limiter.ts'

/** One key's slots: who holds one, and until when. */
export interface Slots {
  judge(check: SlotCheck, now: number): LimitState
  take(check: SlotCheck, now: number): void
  renew(token: string, leaseMs: number, now: number): boolean
  release(token: string): void
  idle(now: number): boolean
}

export function createSlots(): Slots {
  const held = new Map<string, number>()

  function expire(now: number): void {
    for (const [token, until] of held) if (until <= now) held.delete(token)
  }

  return {
    judge({ limit, token }, now) {
      // Expired holders only matter when slots are short.
      if (held.size >= limit) expire(now)
      const mine = held.has(token)
      const used = held.size + (mine ? 0 : 1)
      if (used <= limit) {
        return {
          allowed: true,
          granted: mine ? 0 : 1,
          remaining: limit - used,
          resetInMs: 0,
          retryAfterMs: 0,
        }
      }
      const retryAfterMs = Math.min(...held.values()) - now
      return { allowed: false, granted: 0, remaining: 0, resetInMs: retryAfterMs, retryAfterMs }
    },
    take({ token, leaseMs }, now) {
      held.set(token, now + leaseMs)
    },
    renew(token, leaseMs, now) {
      expire(now)
      if (!held.has(token)) return false
      held.set(token, now + leaseMs)
      return true
    },
    release(token) {
      held.delete(token)
    },
    idle(now) {
      expire(now)
      return held.size === 0
    },
  }
}
