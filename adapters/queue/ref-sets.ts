import type { JobRef } from '../../src/ports/queue.ts'

/** Refs that one job of an engine carries: ids by lane. */
export type RefSet = Readonly<Record<string, readonly string[]>>

export interface DueSet {
  readonly set: RefSet
  /** Milliseconds. */
  readonly delayMs: number
}

/** Small enough that several workers share a batch, large enough that the engine's own work hardly counts. */
const MOST_REFS = 100
/** What is due later comes together with what is due within so long after it. */
const GRAIN_MS = 100

/** Puts together what is due at the same time. */
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

/** Reads what an engine hands over; what it was not given by us is left out. */
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
