import type { Fact } from './facts.ts'

/** What a new time changes. Times are epoch milliseconds. */
export interface Rescheduled {
  /** The notification's `sendAt`. */
  readonly sendAt: number
  /** When its job is due. */
  readonly dueAt: number
  readonly fact: Fact
}

/**
 * The new time of a scheduled notification.
 *
 * @param asked null, or in the past: now
 */
export function rescheduled(asked: number | null, createdAt: number, now: number): Rescheduled {
  const dueAt = Math.max(asked ?? now, now)
  return {
    dueAt,
    // Later than the accept, also within its millisecond: `sendAt` tells that it was accepted as scheduled.
    sendAt: Math.max(dueAt, createdAt + 1),
    fact: { type: 'rescheduled', message: `Due at ${new Date(dueAt).toISOString()}.` },
  }
}
