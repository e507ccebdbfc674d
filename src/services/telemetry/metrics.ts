import { MOST_COUNTED } from '../../domain/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Backlog } from '../../ports/storage/backlog.ts'
import type { MetricsSnapshot, ProviderHealth } from '../records.ts'
import { within } from '../within.ts'
import type { Meter } from './meter.ts'

/** A storage that takes longer is left out: numbers that are asked for every few seconds must not pile up. */
const ANSWER_MS = 5_000

/** Reads everything that can be counted. Never rejects. */
export async function readMetrics(
  meter: Meter,
  source: { backlog(): Promise<Backlog>; providers(): readonly ProviderHealth[] },
  clock: Clock,
): Promise<MetricsSnapshot> {
  let backlog: MetricsSnapshot['backlog'] = null
  async function ask(): Promise<void> {
    backlog = { ...(await source.backlog()), most: MOST_COUNTED }
  }
  await within(
    ask().catch(() => {}),
    ANSWER_MS,
    clock,
  )
  const { counters, histograms } = meter.read()
  return {
    at: new Date(clock.now()).toISOString(),
    backlog,
    providers: source.providers(),
    counters,
    histograms,
  }
}
