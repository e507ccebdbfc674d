import type { Clock } from '../ports/clock.ts'
import type { RateLimiter, SlotCheck } from '../ports/rate-limiter.ts'

/** The slots of running requests in this process, renewed meanwhile. */
export interface HeldSlots {
  /** @returns a function that frees the slot */
  hold(slot: SlotCheck): () => Promise<void>
  /** Stops renewing. */
  close(): void
}

/** Time after which the slots of a killed process are free. */
export const SLOT_MS = 60_000
const RENEW_EVERY_MS = SLOT_MS / 3

/** Longest request: slots held longer are never released by their request. */
const LONGEST_MS = 60 * 60_000

export function createHeldSlots(limiter: RateLimiter, clock: Clock): HeldSlots {
  const since = new Map<SlotCheck, number>()
  let cancel: (() => void) | null = null
  let closed = false

  function arm(): void {
    if (!closed && cancel === null && since.size > 0) cancel = clock.timer(RENEW_EVERY_MS, renewDue)
  }

  function renewDue(): void {
    cancel = null
    const now = clock.monotonic()
    for (const [slot, at] of since) {
      // In order of creation: the rest is younger.
      if (now - at < RENEW_EVERY_MS) break
      if (now - at >= LONGEST_MS) since.delete(slot)
      // Later requests report an unavailable limiter.
      else limiter.renew(slot.key, slot.token, slot.leaseMs).catch(() => {})
    }
    arm()
  }

  return {
    hold(slot) {
      since.set(slot, clock.monotonic())
      arm()
      return () => {
        since.delete(slot)
        return limiter.release(slot.key, slot.token)
      }
    },
    close() {
      closed = true
      cancel?.()
      cancel = null
      since.clear()
    },
  }
}
