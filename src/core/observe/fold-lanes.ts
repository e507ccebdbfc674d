import { laneParts } from '../channels/provider-registry.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { JobCounts } from '../ports/storage/job-counts.ts'
import type { Backlog, LaneBacklog } from '../ports/telemetry.ts'
import { EVENTS_LANE } from './metric-definitions.ts'

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

const SHOWN_AS = { due: 'due', scheduled: 'scheduled', retrying: 'scheduled', running: 'leased' } as const

/**
 * Adds counts of jobs up. The lanes of organizations are part of those of their channels: metrics name no organizations,
 * and their number is bounded.
 *
 * @param most the maximum of every count
 */
export function backlogOf({ counts, held, now }: JobCounts, most: number): Backlog {
  const lanes = new Map<string | null, Mutable<LaneBacklog>>()
  for (const { lane: name, state, jobs, dueAt } of counts) {
    const key = metricLane(name)
    const lane = lanes.get(key) ?? { lane: key, due: 0, scheduled: 0, leased: 0, oldestDueMs: null }
    lanes.set(key, lane)
    lane[SHOWN_AS[state]] = Math.min(most, lane[SHOWN_AS[state]] + jobs)
    if (state === 'due') lane.oldestDueMs = Math.max(lane.oldestDueMs ?? 0, now - dueAt)
  }
  return { lanes: [...lanes.values()], held }
}

/** The name of a lane in metrics. */
function metricLane<Name extends string | null>(lane: Name): Name | string {
  return lane === null ? lane : laneParts(lane).channel
}

/** The name of a job's lane in metrics. */
export function metricLaneOf({ kind, lane }: ClaimedJob): string {
  return kind === 'event' ? EVENTS_LANE : metricLane(lane)
}
