import type { Clock } from '../../ports/clock.ts'
import type { LeaseRef } from '../../ports/storage/claim.ts'
import type { Storage } from '../../ports/storage/storage.ts'

/** The leases that this process holds, renewed while their attempts run. */
export interface Leases {
  /** Length of every lease, in milliseconds. */
  readonly leaseMs: number
  /** Keeps a lease alive until the returned function is called; `lost` is called when another claim has the job. */
  hold(ref: LeaseRef, lost: () => void): () => void
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

  async function renew(): Promise<void> {
    cancel = null
    const refs = [...held.keys()]
    if (refs.length === 0) return
    try {
      const alive = await storage.renew(refs, leaseMs)
      for (const [index, ref] of refs.entries()) if (alive[index] === false) held.get(ref)?.()
    } catch (error) {
      failed(error)
    }
    arm()
  }

  function arm(): void {
    if (!closed && cancel === null && held.size > 0) cancel = clock.timer(leaseMs / 3, () => void renew())
  }

  return {
    leaseMs,
    hold(ref, lost) {
      held.set(ref, lost)
      arm()
      return () => held.delete(ref)
    },
    close() {
      closed = true
      cancel?.()
      cancel = null
    },
  }
}
