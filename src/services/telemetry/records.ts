import type { CounterName, HistogramName } from '../../domain/metrics.ts'
import type { Backlog } from '../../ports/storage/backlog.ts'
import type { ProviderHealth } from '../delivery/records.ts'

/** What can be counted: in this process since it was created, and in the storage now. */
export interface MetricsSnapshot {
  /** ISO 8601 UTC. */
  readonly at: string
  /** What waits in the storage, for whichever process; null: it did not answer. */
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
  /** How many were measured, and their sum. */
  readonly count: number
  readonly sum: number
  /** How many were above the bound before and up to `le`; null: without bound. */
  readonly buckets: readonly { readonly le: number | null; readonly count: number }[]
}
