import {
  type CounterName,
  type HistogramName,
  type LabelValues,
  METRICS,
  type Metric,
  type MetricName,
  measureFact,
} from './metric-definitions.ts'
import type { CountRecord, DistributionRecord } from './model.ts'
import type { TelemetryFact } from './telemetry.ts'

/** Keeps the metrics of this process. */
export interface Meter {
  record(fact: TelemetryFact): void
  read(): {
    readonly counters: Readonly<Record<CounterName, readonly CountRecord[]>>
    readonly histograms: Readonly<Record<HistogramName, readonly DistributionRecord[]>>
  }
}

/** Label values come from bounded sets; this also limits those of plug-ins. */
const MOST_SERIES = 1_000

interface Series {
  readonly labels: LabelValues
  /** The sum of the values. */
  sum: number
  /** Number of values per bucket; empty for a counter. */
  readonly buckets: number[]
}

export function createMeter(): Meter {
  const metrics = new Map<MetricName, Map<string, Series>>()
  for (const name of Object.keys(METRICS) as MetricName[]) metrics.set(name, new Map())

  function seriesOf(name: MetricName, labels: LabelValues): Series | undefined {
    const all = metrics.get(name) as Map<string, Series>
    const key = labels.length === 1 ? (labels[0] as string) : labels.join('\n')
    const known = all.get(key)
    if (known !== undefined || all.size >= MOST_SERIES) return known
    const { buckets } = METRICS[name]
    const made: Series = { labels, sum: 0, buckets: buckets.length === 0 ? [] : [...buckets.map(() => 0), 0] }
    all.set(key, made)
    return made
  }

  function measure(name: MetricName, value: number, labels: LabelValues): void {
    const series = seriesOf(name, labels)
    if (series === undefined) return
    series.sum += value
    if (series.buckets.length === 0) return
    const bounds: readonly number[] = METRICS[name].buckets
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1
    series.buckets[bucket] = (series.buckets[bucket] as number) + 1
  }

  return {
    record: (fact) => measureFact(fact, measure),
    read() {
      const counters = {} as Record<CounterName, CountRecord[]>
      const histograms = {} as Record<HistogramName, DistributionRecord[]>
      for (const [name, all] of metrics) {
        const metric = METRICS[name]
        if (metric.kind === 'counter') {
          counters[name as CounterName] = [...all.values()].map((series) => countOf(metric, series))
        } else {
          histograms[name as HistogramName] = [...all.values()].map((series) =>
            distributionOf(metric, series),
          )
        }
      }
      return { counters, histograms }
    },
  }
}

function labelsOf(metric: Metric, values: LabelValues): Record<string, string> {
  return Object.fromEntries(metric.labels.map((label, index) => [label, values[index] ?? '']))
}

function countOf(metric: Metric, series: Series): CountRecord {
  return { labels: labelsOf(metric, series.labels), value: series.sum }
}

function distributionOf(metric: Metric, { labels, sum, buckets }: Series): DistributionRecord {
  return {
    labels: labelsOf(metric, labels),
    count: buckets.reduce((all, count) => all + count, 0),
    sum,
    buckets: buckets.map((count, index) => ({ le: metric.buckets[index] ?? null, count })),
  }
}
