import { invalidOption } from '../../src/core/errors/invalid-option.ts'
import { assertOptionNames, objectWith } from '../../src/core/errors/option-names.ts'
import {
  EVENTS_LANE,
  GAUGES,
  type GaugeName,
  type LabelValues,
  METRICS,
  type MetricName,
  measureFact,
} from '../../src/core/observe/metric-definitions.ts'
import type { Backlog, Telemetry, TelemetrySource } from '../../src/core/ports/telemetry.ts'
import { loadPromClient, type PromClient, type PromGauge, type PromRegister } from './prom-client.ts'

export type { PromRegister } from './prom-client.ts'

export interface PrometheusOptions {
  /** The prom-client registry that the application serves. Default: the global one. */
  readonly register?: PromRegister | undefined
}

type Values = readonly (readonly [labels: LabelValues, value: number])[]
type Add = (value: number, labels: LabelValues) => void

/**
 * Prometheus metrics in a prom-client registry that the application serves. Labels are channels, providers, lanes,
 * codes and routes: never recipients and ids, and an organization only where its own provider is paused.
 *
 * The backlog is read from the storage at each scrape. Every process that shares the storage reports the same backlog.
 * When the notifier stops, its metrics leave the registry.
 *
 * @throws NotifierError from the notifier's `start()`: `missing_peer` without prom-client; `invalid_configuration` if
 *   the registry already has metrics with these names, for example of another notifier
 *
 * @example
 * const notifier = createNotifier({ channels: { email: provider }, telemetry: prometheusMetrics() })
 */
export function prometheusMetrics(options: PrometheusOptions = {}): Telemetry {
  assertOptionNames('prometheusMetrics', options, {
    register: objectWith('getSingleMetric', 'removeSingleMetric'),
  })
  const records = new Map<MetricName, Add>()
  let leave = (): void => {}

  return {
    name: 'prometheus',
    async start(source) {
      const client = await loadPromClient()
      const register = options.register ?? client.register
      const names = [...Object.values(METRICS), ...Object.values(GAUGES)].map(({ name }) => name)
      const taken = names.find((name) => register.getSingleMetric(name) !== undefined)
      if (taken !== undefined) {
        const message = `The registry already has a metric "${taken}". Use a separate registry for each notifier.`
        throw invalidOption('register', message)
      }
      for (const name of Object.keys(METRICS) as MetricName[]) {
        records.set(name, addMetric(client, register, name))
      }
      addGauges(client, register, source)
      leave = () => {
        for (const name of names) register.removeSingleMetric(name)
      }
    },
    record(fact) {
      measureFact(fact, (metric, value, labels) => records.get(metric)?.(value, labels))
    },
    stop() {
      leave()
    },
  }
}

function addMetric(client: PromClient, register: PromRegister, metric: MetricName): Add {
  const { name, help, labels: labelNames, kind, buckets } = METRICS[metric]
  const configuration = { name, help, labelNames, registers: [register] }
  if (kind === 'counter') {
    const counter = new client.Counter(configuration)
    return (value, labels) => counter.labels(...labels).inc(value)
  }
  const histogram = new client.Histogram({ ...configuration, buckets })
  return (value, labels) => histogram.labels(...labels).observe(value)
}

function addGauges(client: PromClient, register: PromRegister, source: TelemetrySource): void {
  const lanes = new Set<string>()
  let reading: Promise<Backlog | null> | null = null

  /** All gauges of a scrape share one query. */
  function backlog(): Promise<Backlog | null> {
    reading ??= source
      .backlog()
      .catch(() => null)
      .finally(() => {
        reading = null
      })
    return reading
  }

  function add(gauge: GaugeName, read: () => Promise<Values> | Values): void {
    const { name, help, labels } = GAUGES[gauge]
    const made: PromGauge = new client.Gauge({
      name,
      help,
      labelNames: labels,
      registers: [register],
      async collect() {
        const values = await read()
        made.reset()
        // Without labels, `reset` itself sets 0, a value that was never measured.
        if (labels.length === 0) made.remove()
        for (const [labelValues, value] of values) made.labels(...labelValues).set(value)
      },
    })
  }

  add('backlog', async () => jobsOf(await backlog(), lanes))
  add('oldestDue', async () => agesOf(await backlog(), lanes))
  add('held', async () => {
    const found = await backlog()
    return found === null ? [] : [[[], found.held]]
  })
  add('storageAnswers', async () => [[[], (await backlog()) === null ? 0 : 1]])
  add('running', () => runningOf(source))
  add('paused', () => pausesOf(source))
}

/** @param lanes lanes seen so far: an empty lane reports zeros */
function jobsOf(backlog: Backlog | null, lanes: Set<string>): Values {
  if (backlog === null) return []
  const found = new Map(backlog.lanes.map((lane) => [lane.lane ?? EVENTS_LANE, lane]))
  for (const name of found.keys()) lanes.add(name)
  return [...lanes].flatMap((name) => {
    const { due = 0, scheduled = 0, leased = 0 } = found.get(name) ?? {}
    return [
      [[name, 'due'], due],
      [[name, 'scheduled'], scheduled],
      [[name, 'leased'], leased],
    ] as const
  })
}

function agesOf(backlog: Backlog | null, lanes: ReadonlySet<string>): Values {
  if (backlog === null) return []
  const ages = new Map([...lanes].map((name) => [name, 0]))
  for (const { lane, oldestDueMs } of backlog.lanes) ages.set(lane ?? EVENTS_LANE, (oldestDueMs ?? 0) / 1000)
  return [...ages].map(([lane, seconds]) => [[lane], seconds] as const)
}

/** Messages under way, added up over the instances of organizations with the same name. */
function runningOf(source: TelemetrySource): Values {
  const sums = new Map<string, [LabelValues, number]>()
  for (const { channel, name, running } of source.providers()) {
    const labels = [channel, name]
    const sum = sums.get(labels.join('\n'))?.[1] ?? 0
    sums.set(labels.join('\n'), [labels, sum + running])
  }
  return [...sums.values()]
}

/** One tenant's wrong password must not look like an outage for all. */
function pausesOf(source: TelemetrySource): Values {
  return source.providers().flatMap(({ channel, name, organizationId, state }) => {
    const paused = state === 'paused'
    return organizationId === null || paused
      ? [[[channel, name, organizationId ?? ''], paused ? 1 : 0] as const]
      : []
  })
}
