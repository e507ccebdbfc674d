/** Slots that may be taken although nobody uses them: what Redis did with a call that it did not answer is not known. */
export interface OwedSlots {
  /** To be given back as soon as Redis answers. */
  add(key: string, token: string): void
  /** Somebody asks for the slot again, or has given it back. */
  drop(token: string): void
  /** What is owed then, or comes yet, is left to its lease. */
  close(): void
}

const RETRY_MS = 1_000

/** More than that were hardly taken before the server was left alone; their lease ends, too. */
const MOST_OWED = 10_000

/** So many are given back at once. No more are tried while the server is away: they would pile up behind it. */
const PORTION = 256

/** @param giveBack resolves with false where Redis did not answer */
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
    // Behind the others: of a cluster only one node may be away.
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
