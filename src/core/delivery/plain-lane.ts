import type { Instances } from '../channels/instances.ts'
import type { Lane } from './lane.ts'

/** Jobs being routed to their organization's lane. */
const ROUTED = 10

/**
 * The shared lane of a channel whose organizations have their own providers now: routes older jobs to the
 * organizations' lanes.
 */
export function createPlainLane(
  instances: Instances,
  laneOf: (organizationId: string) => Required<Lane>,
): Lane {
  let routing = 0
  return {
    begin: false,
    free: () => Math.max(0, ROUTED - routing),
    async run(job) {
      const lane = laneOf(job.organizationId)
      routing += 1
      try {
        instances.load(job.organizationId)
        await instances.loaded(job.organizationId)
        await lane.prepare()
      } finally {
        routing -= 1
      }
      try {
        await lane.run(job)
      } finally {
        lane.giveBack()
      }
    },
  }
}
