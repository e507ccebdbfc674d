import { peerFault } from '../peer/peer-fault.ts'

/** The members in use of prom-client 15, so that the declarations do not need the package. */
export interface PromClient {
  readonly register: PromRegister
  readonly Counter: new (configuration: MetricConfiguration) => PromCounter
  readonly Gauge: new (configuration: MetricConfiguration) => PromGauge
  readonly Histogram: new (
    configuration: MetricConfiguration & { readonly buckets: readonly number[] },
  ) => PromHistogram
}

/** A registry of prom-client. */
export interface PromRegister {
  getSingleMetric(name: string): unknown
  removeSingleMetric(name: string): void
}

interface MetricConfiguration {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  readonly registers: readonly PromRegister[]
  /** Called before each read of the metric. */
  readonly collect?: () => Promise<void> | void
}

export interface PromCounter {
  labels(...values: string[]): { inc(by: number): void }
}

export interface PromGauge {
  reset(): void
  remove(...values: string[]): void
  labels(...values: string[]): { set(value: number): void }
}

export interface PromHistogram {
  labels(...values: string[]): { observe(value: number): void }
}

/** @throws NotifierError `missing_peer` */
export async function loadPromClient(): Promise<PromClient> {
  try {
    const module: { readonly default?: unknown } = await import(/* turbopackOptional: true */ 'prom-client')
    return (module.default ?? module) as PromClient
  } catch (cause) {
    throw peerFault('prom-client', cause)
  }
}
