/**
 * Source of the time: Carillon reads the time nowhere else. Storages and rate limiters have their own clock (a database
 * that of its server), which may differ from this one.
 */
export interface Clock {
  /** Epoch milliseconds. May go back: measure durations with {@link monotonic}. */
  now(): number
  /** Milliseconds since an arbitrary point. Never goes back. */
  monotonic(): number
  /**
   * Calls `callback` once, after at least `delayMs`. A pending timer does not keep the process alive.
   *
   * @returns a function that cancels the timer; harmless after it has fired
   */
  timer(delayMs: number, callback: () => void): () => void
}
