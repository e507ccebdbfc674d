import type { Fact } from './facts.ts'

/** Most reschedules of a notification. Each adds an entry to its timeline, which is read whole. */
export const MAX_RESCHEDULES = 100

/** The changes by a new time. Times are epoch milliseconds. */
export interface Rescheduled {
  /** The notification's `sendAt`. */
  readonly sendAt: number
  /** When its job is due. */
  readonly dueAt: number
  readonly fact: Fact
}

/**
 * The new time of a scheduled notification. Null: its timeline has as many entries after the accept as there may be
 * reschedules; only they come before the first attempt.
 *
 * @param asked null, or in the past: now
 * @param sequence of its newest timeline entry; the accept is 1
 *
 * @example
 * const change = rescheduled(Date.parse('2030-02-01T09:00:00Z'), { createdAt: now - 60_000, sequence: 1 }, now)
 */
export function rescheduled(
  asked: number | null,
  { createdAt, sequence }: { readonly createdAt: number; readonly sequence: number },
  now: number,
): Rescheduled | null {
  if (sequence > MAX_RESCHEDULES) return null
  const dueAt = Math.max(asked ?? now, now)
  return {
    dueAt,
    // Later than the accept, also within its millisecond: `sendAt` tells that it was accepted as scheduled.
    sendAt: Math.max(dueAt, createdAt + 1),
    fact: { type: 'rescheduled', message: `Due at ${new Date(dueAt).toISOString()}.` },
  }
}
