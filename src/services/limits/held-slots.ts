import type { Clock } from '../../ports/clock.ts'
import type { RateLimiter, SlotCheck } from '../../ports/rate-limiter.ts'

/** The slots that requests of this process have taken, renewed while they are under way. */
export interface HeldSlots {
  /** @returns gives the slot back */
  hold(slot: SlotCheck): () => Promise<void>
  /** Stops renewing. */
  close(): void
}

/** What a process that was killed held is free after so long. */
export const SLOT_MS = 60_000
const RENEW_EVERY_MS = SLOT_MS / 3

/** No request lasts longer: whatever has not given its slot back by then never will. */
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
      // In the order in which they were taken: those behind it are younger.
      if (now - at < RENEW_EVERY_MS) break
      if (now - at >= LONGEST_MS) since.delete(slot)
      // A limiter that is away tells the requests that come meanwhile.
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
