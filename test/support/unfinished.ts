import { backlogOf } from '../../src/core/observe/fold-lanes.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import type { Backlog } from '../../src/core/ports/telemetry.ts'

/** Counts of unfinished jobs by channel, up to 1,000. */
export async function unfinished(storage: Storage): Promise<Backlog> {
  return backlogOf(await storage.countJobs('all', 1_000), 1_000)
}
