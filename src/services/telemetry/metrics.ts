import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { MOST_COUNTED } from '../../domain/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Backlog } from '../../ports/storage/backlog.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { ProviderHealth } from '../delivery/records.ts'
import { within } from '../within.ts'
import { foldLanes } from './fold-lanes.ts'
import type { Meter } from './meter.ts'
import type { MetricsSnapshot } from './records.ts'

/** A storage that takes longer is left out: numbers that are asked for every few seconds must not pile up. */
const ANSWER_MS = 5_000

/** What can be read of a notifier at any time. */
export interface MetricsSource {
  /** @throws NotifierError `service_unavailable`, after a few seconds too */
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
      const asked = storage.backlog(MOST_COUNTED)
      if (await within(asked, ANSWER_MS, clock)) return foldLanes(await asked, MOST_COUNTED)
      // Nobody waits for it any more.
      asked.catch(() => {})
      throw new NotifierError('service_unavailable', { message: 'The storage does not answer in time.' })
    },
  }
}

/** Reads everything that can be counted. Never rejects. */
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
