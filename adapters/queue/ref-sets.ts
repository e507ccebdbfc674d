import type { JobRef } from '../../src/core/ports/queue.ts'

/** Refs in one job of an engine: ids by lane. A value of JSON. */
export type RefSet = Readonly<Record<string, readonly string[]>>

/** A job for an engine. */
export interface DueSet {
  readonly set: RefSet
  /** Until its refs are due, in milliseconds; 0: they are due now. */
  readonly delayMs: number
}

/** Small enough to spread a batch over several workers, large enough to make the engine's overhead negligible. */
const MOST_REFS = 100
/** Jobs that become due within this time of each other share a set. */
const GRAIN_MS = 100

/**
 * Groups refs by due time, in sets of at most 100. No ref comes before it is due, and at most 100 ms late.
 *
 * @example
 * for (const { set, delayMs } of toSets([{ jobId: 'job_1', lane: 'email', dueInMs: 0 }])) await enqueue(set, delayMs)
 */
export function toSets(refs: readonly JobRef[]): DueSet[] {
  const byDelay = new Map<number, JobRef[]>()
  for (const ref of refs) {
    const delayMs = Math.ceil(ref.dueInMs / GRAIN_MS) * GRAIN_MS
    const together = byDelay.get(delayMs)
    if (together === undefined) byDelay.set(delayMs, [ref])
    else together.push(ref)
  }
  const sets: DueSet[] = []
  for (const [delayMs, together] of byDelay) {
    for (let from = 0; from < together.length; from += MOST_REFS)
      sets.push({ delayMs, set: byLane(together.slice(from, from + MOST_REFS)) })
  }
  return sets
}

/**
 * The refs of a set that an engine returns, for `QueueWorker.handle`. Anything else in it is dropped.
 *
 * @example
 * const refs = fromSet({ email: ['job_1', 'job_2'] }) // [{ jobId: 'job_1', lane: 'email' }, …]
 */
export function fromSet(set: unknown): Pick<JobRef, 'jobId' | 'lane'>[] {
  if (typeof set !== 'object' || set === null) return []
  return Object.entries(set).flatMap(([lane, ids]) =>
    Array.isArray(ids)
      ? ids.filter((id) => typeof id === 'string').map((jobId: string) => ({ jobId, lane }))
      : [],
  )
}

function byLane(refs: readonly JobRef[]): RefSet {
  const set: Record<string, string[]> = Object.create(null)
  for (const { jobId, lane } of refs) {
    const ids = set[lane]
    if (ids === undefined) set[lane] = [jobId]
    else ids.push(jobId)
  }
  return set
}
