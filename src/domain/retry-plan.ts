/** What one step of a retry does, counted as it goes. */
export interface RetryPlan {
  /** The job that a dead letter gets; null: it is left as it is. To be asked once for each, in order. */
  place(letter: {
    readonly channel: string
    readonly expiresAt: number | null
    /** Its content was. */
    readonly removed: boolean
  }): { readonly lane: string; readonly dueAt: number } | null
  readonly retried: number
  /** Left, because they expire before they would be due. */
  readonly expired: number
  /** Left, because their channel has no lane. */
  readonly unroutable: number
  /** Left, because their content was removed. */
  readonly contentRemoved: number
  /** When the next one would be due. */
  readonly nextDueAt: number
}

/** Spreads retried notifications over time: the same for every storage. @param now the storage's time */
export function createRetryPlan(
  how: {
    readonly lanes: Readonly<Partial<Record<string, string>>>
    readonly dueAt?: number | undefined
    readonly spacingMs?: number | undefined
  },
  now: number,
): RetryPlan {
  const { lanes, spacingMs = 0 } = how
  const first = Math.max(now, how.dueAt ?? now)
  let [retried, expired, unroutable, contentRemoved] = [0, 0, 0, 0]
  return {
    place({ channel, expiresAt, removed }) {
      if (removed) {
        contentRemoved += 1
        return null
      }
      const dueAt = Math.floor(first + retried * spacingMs)
      if (expiresAt !== null && expiresAt <= dueAt) {
        expired += 1
        return null
      }
      const lane = lanes[channel]
      if (lane === undefined) {
        unroutable += 1
        return null
      }
      retried += 1
      return { lane, dueAt }
    },
    get retried() {
      return retried
    },
    get expired() {
      return expired
    },
    get unroutable() {
      return unroutable
    },
    get contentRemoved() {
      return contentRemoved
    },
    get nextDueAt() {
      return first + retried * spacingMs
    },
  }
}
