import { COUNTED_AS } from '../../src/core/notification/facts.ts'
import type { LogCounts, LogSpan } from '../../src/core/ports/storage/logs.ts'
import type { MemoryState } from './state.ts'

/** Scans all entries: a storage in memory holds few. */
export function countLog(
  state: MemoryState,
  { organizationId, from, until }: LogSpan,
  most: number,
): LogCounts {
  const log = state.logOf.get(organizationId)?.values() ?? []
  const within = [...log].filter(({ entry }) => entry.at >= from && entry.at < until)
  const accepts = within.filter(({ entry }) => entry.fact === null)
  const events = within.filter(({ entry }) => entry.fact !== null)
  const counted = { sent: new Set<string>(), delivered: new Set<string>(), failed: new Set<string>() }
  for (const { notification, entry } of events.slice(0, most)) {
    const name = entry.fact === null ? undefined : COUNTED_AS[entry.fact.type]
    if (name !== undefined) counted[name].add(notification.id)
  }
  return {
    accepted: Math.min(accepts.length, most),
    sent: counted.sent.size,
    delivered: counted.delivered.size,
    failed: counted.failed.size,
    exact: accepts.length < most && events.length < most,
  }
}
