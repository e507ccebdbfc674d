import type { LimitState, SlotCheck } from '../../ports/rate-limiter.ts'

/** The holders of a key's slots with their expiry. */
export interface Slots {
  judge(check: SlotCheck, now: number): LimitState
  take(check: SlotCheck, now: number): void
  renew(token: string, leaseMs: number, now: number): boolean
  release(token: string): void
  idle(now: number): boolean
}

/**
 * Few slots are held at a time, and every request takes one: two short lists are cheaper than a `Map`, which is rebuilt
 * after a few deletions.
 */
export function createSlots(): Slots {
  const tokens: string[] = []
  const untils: number[] = []

  function drop(index: number): void {
    const token = tokens.pop()
    const until = untils.pop()
    if (index === tokens.length || token === undefined || until === undefined) return
    tokens[index] = token
    untils[index] = until
  }

  function expire(now: number): void {
    for (let index = tokens.length - 1; index >= 0; index -= 1) {
      if ((untils[index] ?? 0) <= now) drop(index)
    }
  }

  return {
    judge({ limit, token }, now) {
      // Expired holders matter only if no slot is free.
      if (tokens.length >= limit) expire(now)
      const mine = tokens.length > 0 && tokens.includes(token)
      const used = tokens.length + (mine ? 0 : 1)
      if (used <= limit) {
        return {
          allowed: true,
          granted: mine ? 0 : 1,
          remaining: limit - used,
          resetInMs: 0,
          retryAfterMs: 0,
        }
      }
      const retryAfterMs = Math.min(...untils) - now
      return { allowed: false, granted: 0, remaining: 0, resetInMs: retryAfterMs, retryAfterMs }
    },
    take({ token, leaseMs }, now) {
      const index = tokens.length === 0 ? -1 : tokens.indexOf(token)
      if (index === -1) {
        tokens.push(token)
        untils.push(now + leaseMs)
      } else {
        untils[index] = now + leaseMs
      }
    },
    renew(token, leaseMs, now) {
      expire(now)
      const index = tokens.indexOf(token)
      if (index === -1) return false
      untils[index] = now + leaseMs
      return true
    },
    release(token) {
      const index = tokens.lastIndexOf(token)
      if (index !== -1) drop(index)
    },
    idle(now) {
      expire(now)
      return tokens.length === 0
    },
  }
}
