import { COUNTED_AS } from '../../../src/core/notification/facts.ts'
import type { LogCounts } from '../../../src/core/ports/storage/logs.ts'

/** SQL for what a fact's type counts as. */
export function countedAs(type: string): string {
  const cases = Object.entries(COUNTED_AS).map(([of, name]) => `WHEN '${of}' THEN '${name}'`)
  return `CASE ${type} ${cases.join(' ')} END`
}

/** Entries of the delivery log with one name. */
export interface CountedRow {
  /** `accepted`, a value of {@link countedAs}, or null. */
  readonly name: string | null
  readonly notifications: number
  readonly entries: number
}

/**
 * Adds up a count of the delivery log.
 *
 * @param most where each of the two lists stopped
 *
 * @example
 * const counts = toLogCounts([{ name: 'sent', notifications: 40, entries: 42 }], 10_000)
 */
export function toLogCounts(rows: readonly CountedRow[], most: number): LogCounts {
  const counts = { accepted: 0, sent: 0, delivered: 0, failed: 0, bounced: 0 }
  let events = 0
  for (const { name, notifications, entries } of rows) {
    if (name !== null && name in counts) counts[name as keyof typeof counts] = notifications
    if (name !== 'accepted') events += entries
  }
  const failed = counts.failed + counts.bounced
  return { ...counts, failed, exact: counts.accepted < most && events < most }
}
