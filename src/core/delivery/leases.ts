import type { Clock } from '../ports/clock.ts'
import type { LeaseRef } from '../ports/storage/claim.ts'
import type { Storage } from '../ports/storage/storage.ts'

/** The leases of this process, renewed while their attempts run. */
export interface Leases {
  /** Length of every lease, in milliseconds. */
  readonly leaseMs: number
  /** Renews a lease until the returned function is called. Calls `lost` if another claim has the job. */
  hold(ref: LeaseRef, lost: () => void): () => void
  /**
   * Renews leases at once if they may have ended: the wall clock was set, the machine slept, or the process was
   * blocked. Before a claim, which takes back ended leases, and before a hand-over, which another process may have
   * made. Rejects if the storage is away. Undefined: not needed.
   */
  secure(): Promise<void> | undefined
  /** Stops renewing. */
  close(): void
}

/** The certain part of a lease's length: its claim may have been answered a third after the request. */
const SURE_FOR = 2 / 3

/** @param onError receives errors of renewals; the next round tries again */
export function createLeases(
  storage: Storage,
  clock: Clock,
  leaseMs: number,
  onError: (error: unknown) => void,
): Leases {
  const held = new Map<LeaseRef, () => void>()
  let cancel: (() => void) | null = null
  let renewing: Promise<void> | null = null
  let closed = false

  /** Offset of the wall clock, by which storages on this machine measure leases. */
  const ahead = (): number => clock.now() - clock.monotonic()
  /** Both as of the last lease or renewal. */
  let aheadThen = 0
  let renewedAt = 0

  function mayHaveEnded(): boolean {
    const steppedMs = Math.abs(ahead() - aheadThen)
    return steppedMs > leaseMs / 3 || clock.monotonic() - renewedAt > SURE_FOR * leaseMs
  }

  async function renewAll(): Promise<void> {
    const refs = [...held.keys()]
    const [aheadNow, now] = [ahead(), clock.monotonic()]
    const alive = await storage.renew(refs, leaseMs)
    aheadThen = aheadNow
    renewedAt = now
    for (const [index, ref] of refs.entries()) if (alive[index] === false) held.get(ref)?.()
  }

  /** Concurrent calls share one renewal. */
  function renew(): Promise<void> {
    renewing ??= renewAll().finally(() => {
      renewing = null
    })
    return renewing
  }

  /** A renewal requested before a standstill proves nothing about the time after it. */
  async function renewUntilSure(): Promise<void> {
    while (held.size > 0 && mayHaveEnded()) await renew()
  }

  async function renewInTurn(): Promise<void> {
    cancel = null
    if (held.size === 0) return
    try {
      await renew()
    } catch (error) {
      onError(error)
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
      if (held.size === 0) {
        aheadThen = ahead()
        renewedAt = clock.monotonic()
      }
      held.set(ref, lost)
      arm()
      return () => held.delete(ref)
    },
    secure: () => (held.size > 0 && mayHaveEnded() ? renewUntilSure() : undefined),
    close() {
      closed = true
      cancel?.()
      cancel = null
    },
  }
}
