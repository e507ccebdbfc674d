import type { Clock } from '../../ports/clock.ts'
import type { LeaseRef } from '../../ports/storage/claim.ts'
import type { Storage } from '../../ports/storage/storage.ts'

/** The leases that this process holds, renewed while their attempts run. */
export interface Leases {
  /** Length of every lease, in milliseconds. */
  readonly leaseMs: number
  /** Keeps a lease alive until the returned function is called; `lost` is called when another claim has the job. */
  hold(ref: LeaseRef, lost: () => void): () => void
  /**
   * Renews at once what is held, where the wall clock was set in a way that may have ended it: before a claim, which takes
   * back what has ended. Rejects when the storage is away; undefined: there is nothing to renew.
   */
  afterClockStep(): Promise<void> | undefined
  /** Stops renewing. */
  close(): void
}

/** @param failed is told when leases could not be renewed; the next turn tries again */
export function createLeases(
  storage: Storage,
  clock: Clock,
  leaseMs: number,
  failed: (error: unknown) => void,
): Leases {
  const held = new Map<LeaseRef, () => void>()
  let cancel: (() => void) | null = null
  let closed = false

  /** How far the wall clock is ahead. Storages of this machine measure leases by it. */
  const ahead = (): number => clock.now() - clock.monotonic()
  /** As it was when all that is held was leased or renewed last. */
  let aheadThen = 0

  async function renew(): Promise<void> {
    const refs = [...held.keys()]
    const now = ahead()
    const alive = await storage.renew(refs, leaseMs)
    aheadThen = now
    for (const [index, ref] of refs.entries()) if (alive[index] === false) held.get(ref)?.()
  }

  async function renewInTurn(): Promise<void> {
    cancel = null
    if (held.size === 0) return
    try {
      await renew()
    } catch (error) {
      failed(error)
    }
    arm()
  }

  function arm(): void {
    if (!closed && cancel === null && held.size > 0)
      cancel = clock.timer(leaseMs / 3, () => void renewInTurn())
  }

  return {
    leaseMs,
    hold(ref, lost) {
      if (held.size === 0) aheadThen = ahead()
      held.set(ref, lost)
      arm()
      return () => held.delete(ref)
    },
    afterClockStep() {
      return held.size > 0 && Math.abs(ahead() - aheadThen) > leaseMs / 3 ? renew() : undefined
    },
    close() {
      closed = true
      cancel?.()
      cancel = null
    },
  }
}
