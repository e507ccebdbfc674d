import type { ProviderHealth } from '../delivery/model.ts'
import type { Backlog } from '../ports/telemetry.ts'
import type { CounterName, HistogramName } from './metric-definitions.ts'

/** The metrics of this process since its start, and of the storage now. */
export interface MetricsSnapshot {
  /** ISO 8601 UTC. */
  readonly at: string
  /** The stored work, for all processes. Null: the storage did not answer. */
  readonly backlog: (Backlog & { readonly most: number }) | null
  readonly providers: readonly ProviderHealth[]
  readonly counters: Readonly<Record<CounterName, readonly CountRecord[]>>
  readonly histograms: Readonly<Record<HistogramName, readonly DistributionRecord[]>>
}

export interface CountRecord {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface DistributionRecord {
  readonly labels: Readonly<Record<string, string>>
  /** Number and sum of the values. */
  readonly count: number
  readonly sum: number
  /** Number of values above the previous bound and up to `le`. Null: no bound. */
  readonly buckets: readonly { readonly le: number | null; readonly count: number }[]
}
