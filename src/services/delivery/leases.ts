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
   * Renews at once what is held, where it may have ended: the wall clock was set, the machine slept, or this process came to
   * nothing for long. Before a claim, which takes back what has ended, and before a hand-over, which another process may have
   * made. Rejects when the storage is away; undefined: there is nothing to renew.
   */
  secure(): Promise<void> | undefined
  /** Stops renewing. */
  close(): void
}

/** So much of its length a lease lasts for sure: its claim may have been answered a third after it was asked. */
const SURE_FOR = 2 / 3

/** @param onError is told when leases could not be renewed; the next turn tries again */
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

  /** How far the wall clock is ahead. Storages of this machine measure leases by it. */
  const ahead = (): number => clock.now() - clock.monotonic()
  /** Both as they were when all that is held was leased or renewed last. */
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

  /** Once for all that ask meanwhile. */
  function renew(): Promise<void> {
    renewing ??= renewAll().finally(() => {
      renewing = null
    })
    return renewing
  }

  /** What was asked for before a standstill says nothing about the time after it. */
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
