/** Slots that may be taken without a user: the effect of an unanswered call is unknown. */
export interface OwedSlots {
  /** Schedules a release for when Redis answers again. */
  add(key: string, token: string): void
  /** Cancels the release: the slot is in use again, or already released. */
  drop(token: string): void
  /** Drops pending and future releases. The slots expire with their leases. */
  close(): void
}

const RETRY_MS = 1_000

/** Bounds memory. A server is rested long before this many calls, and slots expire anyway. */
const MOST_OWED = 10_000

/**
 * Releases in one batch. A batch without answers ends the attempt, so that calls do not pile up while the server is
 * down.
 */
const PORTION = 256

/** @param giveBack resolves with false if Redis did not answer */
export function createOwedSlots(giveBack: (key: string, token: string) => Promise<boolean>): OwedSlots {
  const owed = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function later(): void {
    if (timer !== undefined || owed.size === 0) return
    timer = setTimeout(() => void repay(), RETRY_MS)
    timer.unref()
  }

  async function repay(): Promise<void> {
    const all = [...owed]
    for (let at = 0, answered = true; answered && at < all.length; at += PORTION) {
      const given = await Promise.all(all.slice(at, at + PORTION).map(giveOne))
      answered = !given.includes(false)
    }
    timer = undefined
    later()
  }

  async function giveOne([token, key]: readonly [token: string, key: string]): Promise<boolean> {
    if (!owed.has(token)) return true
    const given = await giveBack(key, token)
    // Goes to the end of the queue: in a cluster only one node may be down.
    if (owed.delete(token) && !given) owed.set(token, key)
    return given
  }

  return {
    add(key, token) {
      if (closed || owed.size >= MOST_OWED) return
      owed.set(token, key)
      later()
    },
    drop(token) {
      owed.delete(token)
    },
    close() {
      closed = true
      owed.clear()
      clearTimeout(timer)
    },
  }
}
