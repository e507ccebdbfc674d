import { COUNTED_AS } from '../../../src/core/notification/facts.ts'
import type { Backlog, LaneBacklog } from '../../../src/core/ports/storage/backlog.ts'
import type { LogCounts } from '../../../src/core/ports/storage/logs.ts'
import type { JobState, Waiting } from '../../../src/core/ports/storage/notifications.ts'

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

/** Adds up a count of the delivery log. @param most where each of the two lists stopped */
export function toLogCounts(rows: readonly CountedRow[], most: number): LogCounts {
  const counts = { accepted: 0, sent: 0, delivered: 0, failed: 0 }
  let events = 0
  for (const { name, notifications, entries } of rows) {
    if (name !== null && name in counts) counts[name as keyof typeof counts] = notifications
    if (name !== 'accepted') events += entries
  }
  return { ...counts, exact: counts.accepted < most && events < most }
}

/** Unfinished notifications of one kind. */
export interface WaitingRow {
  readonly kind: 'due' | 'scheduled' | 'retrying' | 'running'
  readonly jobs: number
  /** Since when the oldest is due, in epoch milliseconds. */
  readonly oldest: number | null
}

/** Adds up the unfinished notifications of an organization. @param now the storage's time in epoch milliseconds */
export function toWaiting(rows: readonly WaitingRow[], most: number, now: number): Waiting {
  const counts = { due: 0, scheduled: 0, retrying: 0, running: 0 }
  let oldestDueMs: number | null = null
  for (const { kind, jobs, oldest } of rows) {
    counts[kind] = Math.min(counts[kind] + jobs, most)
    if (kind === 'due' && jobs > 0 && oldest !== null) oldestDueMs = Math.max(oldestDueMs ?? 0, now - oldest)
  }
  return { ...counts, oldestDueMs }
}

/** Jobs of one lane and kind. */
export interface BacklogRow {
  /** Null: of webhook endpoints. */
  readonly lane: string | null
  readonly kind: 'due' | 'scheduled' | 'leased'
  readonly jobs: number
  /** Since when the oldest is due, in epoch milliseconds. Read of due jobs only. */
  readonly oldest: number | null
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/**
 * Adds up the backlog.
 *
 * @param held count of held deliveries, at most `most`
 * @param most where the count of due jobs of a lane stops; rows hold no more than that many of the other kinds
 * @param now the storage's time in epoch milliseconds
 */
export function toBacklog(rows: Iterable<BacklogRow>, held: number, most: number, now: number): Backlog {
  const lanes = new Map<string | null, Mutable<LaneBacklog>>()
  for (const { lane: name, kind, jobs, oldest } of rows) {
    const lane = lanes.get(name) ?? { lane: name, due: 0, scheduled: 0, leased: 0, oldestDueMs: null }
    lanes.set(name, lane)
    lane[kind] += jobs
    if (kind !== 'due' || oldest === null) continue
    lane.due = Math.min(lane.due, most)
    lane.oldestDueMs = Math.max(lane.oldestDueMs ?? 0, now - oldest)
  }
  return { lanes: [...lanes.values()], held }
}

export interface JobStateRow {
  /** As the schema has it. */
  readonly state: number
  readonly due_at: number
  readonly lease_until: number | null
  readonly attempts: number
}

export function toJobState(row: JobStateRow, now: number): JobState {
  const { state, due_at: dueAt, lease_until: until, attempts } = row
  if (state === 2 && until !== null && until > now) return { state: 'running', dueAt, attempts }
  return { state: state === 1 && dueAt > now ? 'waiting' : 'due', dueAt, attempts }
}
