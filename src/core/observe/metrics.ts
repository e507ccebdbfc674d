import type { ProviderHealth } from '../delivery/model.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { within } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { Backlog } from '../ports/telemetry.ts'
import { backlogOf } from './fold-lanes.ts'
import type { Meter } from './meter.ts'
import { MOST_COUNTED } from './metric-definitions.ts'
import type { MetricsSnapshot } from './model.ts'

/** Timeout of the storage: frequent queries must not pile up. */
const ANSWER_MS = 5_000

/** Metrics of a notifier, available at any time. */
export interface MetricsSource {
  /** @throws NotifierError `service_unavailable`, also after a timeout */
  backlog(): Promise<Backlog>
  providers(): readonly ProviderHealth[]
}

export function createMetricsSource(
  storage: Storage,
  providers: () => readonly ProviderHealth[],
  clock: Clock,
): MetricsSource {
  return {
    providers,
    async backlog() {
      const asked = storage.countJobs('all', MOST_COUNTED)
      if (await within(asked, ANSWER_MS, clock)) return backlogOf(await asked, MOST_COUNTED)
      // The caller has stopped waiting.
      asked.catch(() => {})
      throw new NotifierError('service_unavailable', { message: 'The storage does not answer in time.' })
    },
  }
}

/** Reads all metrics. Never rejects. */
export async function readMetrics(
  meter: Meter,
  source: MetricsSource,
  clock: Clock,
): Promise<MetricsSnapshot> {
  const backlog = await source.backlog().catch(() => null)
  return {
    at: new Date(clock.now()).toISOString(),
    backlog: backlog === null ? null : { ...backlog, most: MOST_COUNTED },
    providers: source.providers(),
    ...meter.read(),
  }
}
