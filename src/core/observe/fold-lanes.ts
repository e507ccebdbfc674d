import { laneParts } from '../channels/provider-registry.ts'
import type { Backlog, LaneBacklog } from '../ports/storage/backlog.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import { EVENTS_LANE } from './metric-definitions.ts'

/**
 * Adds the lanes of organizations to those of their channels: metrics name no organizations, and their number is
 * bounded.
 *
 * @param most the maximum of every count
 */
export function foldLanes(backlog: Backlog, most: number): Backlog {
  const lanes = new Map<string | null, LaneBacklog>()
  for (const lane of backlog.lanes) {
    const name = metricLane(lane.lane)
    const known = lanes.get(name)
    lanes.set(name, known === undefined ? { ...lane, lane: name } : together(known, lane, most))
  }
  return { ...backlog, lanes: [...lanes.values()] }
}

/** The name of a lane in metrics. */
function metricLane<Name extends string | null>(lane: Name): Name | string {
  return lane === null ? lane : laneParts(lane).channel
}

/** The name of a job's lane in metrics. */
export function metricLaneOf({ kind, lane }: ClaimedJob): string {
  return kind === 'event' ? EVENTS_LANE : metricLane(lane)
}

function together(one: LaneBacklog, other: LaneBacklog, most: number): LaneBacklog {
  const ages = [one.oldestDueMs, other.oldestDueMs].filter((age) => age !== null)
  return {
    lane: one.lane,
    due: Math.min(most, one.due + other.due),
    scheduled: Math.min(most, one.scheduled + other.scheduled),
    leased: Math.min(most, one.leased + other.leased),
    oldestDueMs: ages.length === 0 ? null : Math.max(...ages),
  }
}
