/**
 * The process' time. Nothing in Carillon reads the time any other way; storages and rate limiters own a clock
 * of their own (a database its own), which may differ from this one.
 */
export interface Clock {
  /** Epoch milliseconds. May step back; code that measures durations uses {@link monotonic}. */
  now(): number
  /** Milliseconds since an arbitrary point; never steps back. */
  monotonic(): number
  /**
   * Calls `callback` once after at least `delayMs`. A pending timer does not keep the process alive.
   *
   * @returns cancels the timer; harmless when it has fired.
   */
  timer(delayMs: number, callback: () => void): () => void
}
