/** Slots that may be taken without a user: the effect of an unanswered call is unknown. */
export interface PendingReleases {
  /** Schedules a release for when Redis answers again. */
  add(key: string, token: string): void
  /** Cancels the release: the slot is in use again, or already released. */
  drop(token: string): void
  /** Drops pending and future releases. The slots expire with their leases. */
  close(): void
}

const RETRY_MS = 1_000

/** Bounds memory. A server is rested long before this many calls, and slots expire anyway. */
const MOST_PENDING = 10_000

/**
 * Releases in one batch. A batch without answers ends the attempt, so that calls do not pile up while the server is
 * down.
 */
const BATCH = 256

/** @param release resolves with false if Redis did not answer */
export function createPendingReleases(
  release: (key: string, token: string) => Promise<boolean>,
): PendingReleases {
  const pending = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function later(): void {
    if (timer !== undefined || pending.size === 0) return
    timer = setTimeout(() => void releaseAll(), RETRY_MS)
    timer.unref()
  }

  async function releaseAll(): Promise<void> {
    const all = [...pending]
    for (let at = 0, answered = true; answered && at < all.length; at += BATCH) {
      const released = await Promise.all(all.slice(at, at + BATCH).map(releaseOne))
      answered = !released.includes(false)
    }
    timer = undefined
    later()
  }

  async function releaseOne([token, key]: readonly [token: string, key: string]): Promise<boolean> {
    if (!pending.has(token)) return true
    const released = await release(key, token)
    // Goes to the end of the queue: in a cluster only one node may be down.
    if (pending.delete(token) && !released) pending.set(token, key)
    return released
  }

  return {
    add(key, token) {
      if (closed || pending.size >= MOST_PENDING) return
      pending.set(token, key)
      later()
    },
    drop(token) {
      pending.delete(token)
    },
    close() {
      closed = true
      pending.clear()
      clearTimeout(timer)
    },
  }
}
