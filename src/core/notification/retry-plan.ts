/** One step of a retry, with its counts. */
export interface RetryPlan {
  /** The job for a dead letter; null: none. Call it once for each, in order. */
  place(letter: {
    readonly channel: string
    readonly expiresAt: number | null
    /** The content has been removed. */
    readonly removed: boolean
  }): { readonly lane: string; readonly dueAt: number } | null
  readonly retried: number
  /** Unchanged, because they expire before their due time. */
  readonly expired: number
  /** Unchanged, because their channel has no lane. */
  readonly unroutable: number
  /** Unchanged, because their content was removed. */
  readonly contentRemoved: number
  /** Due time of the next one in epoch milliseconds; may have a fraction. */
  readonly nextDueAt: number
}

/**
 * Spreads retried notifications over time, the same way in every storage.
 *
 * @param options a `RetryRequest`
 * @param now the storage's time in epoch milliseconds
 *
 * @example
 * const plan = createRetryPlan({ lanes: { email: 'email' }, spacingMs: 100 }, now)
 * const job = plan.place({ channel: 'email', expiresAt: null, removed: false })
 */
export function createRetryPlan(
  options: {
    readonly lanes: Readonly<Partial<Record<string, string>>>
    readonly dueAt?: number | undefined
    readonly spacingMs?: number | undefined
  },
  now: number,
): RetryPlan {
  const { lanes, spacingMs = 0 } = options
  const first = Math.max(now, options.dueAt ?? now)
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
