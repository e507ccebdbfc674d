import { COUNTED_AS } from '../../../src/core/notification/facts.ts'
import type { LogCounts } from '../../../src/core/ports/storage/logs.ts'

const counted = Object.entries(COUNTED_AS)
const names = counted.map(([of, name]) => `WHEN '${of}' THEN '${name === 'bounced' ? 'failed' : name}'`)
const bounced = counted.flatMap(([of, name]) => (name === 'bounced' ? [`'${of}'`] : []))

/** SQL for a {@link CountedRow} of each name, but for `accepted`. @param facts a table of `notification` and `type` */
export const countFacts = (facts: string): string => `
  SELECT CASE type ${names.join(' ')} END AS name, count(DISTINCT notification) AS notifications,
    count(DISTINCT CASE WHEN type IN (${bounced}) THEN notification END) AS bounced, count(*) AS entries
  FROM ${facts} GROUP BY 1`

/** Entries of the delivery log with one name. */
export interface CountedRow {
  /** `accepted`, a value of `COUNTED_AS` other than `bounced`, or null. */
  readonly name: string | null
  readonly notifications: number
  /** Those of `failed` with an entry that counts as `bounced`. */
  readonly bounced: number
  readonly entries: number
}

/**
 * Adds up a count of the delivery log.
 *
 * @param most where each of the two lists stopped
 *
 * @example
 * const counts = toLogCounts([{ name: 'sent', notifications: 40, bounced: 0, entries: 42 }], 10_000)
 */
export function toLogCounts(rows: readonly CountedRow[], most: number): LogCounts {
  const counts = { accepted: 0, sent: 0, delivered: 0, failed: 0, bounced: 0 }
  let events = 0
  for (const { name, notifications, bounced, entries } of rows) {
    if (name !== null && name in counts) counts[name as keyof typeof counts] = notifications
    counts.bounced += bounced
    if (name !== 'accepted') events += entries
  }
  return { ...counts, exact: counts.accepted < most && events < most }
}
