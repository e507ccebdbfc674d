import type { TelemetryFact } from './telemetry.ts'

/** A metric with a value for each combination of its labels. All label values come from bounded sets. */
export interface Metric {
  /** Named by the conventions of Prometheus: base units, `_total` for counters. */
  readonly name: string
  readonly kind: 'counter' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram, ascending; the last is unbounded. */
  readonly buckets: readonly number[]
}

/** For provider and endpoint calls, in seconds. */
const SECONDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** For delays by a backlog, in seconds. */
const LONG_SECONDS: readonly number[] = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1_800, 7_200, 43_200]
const ITEMS: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 10_000]

function counter(
  name: string,
  labels: readonly string[],
  help: string,
): Metric & { readonly kind: 'counter' } {
  return { name: `carillon_${name}`, kind: 'counter', labels, help, buckets: [] }
}

function histogram(
  name: string,
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
): Metric & { readonly kind: 'histogram' } {
  return { name: `carillon_${name}`, kind: 'histogram', labels, help, buckets }
}

export type CounterName =
  | 'accepted'
  | 'refused'
  | 'skipped'
  | 'events'
  | 'attempts'
  | 'leasesLost'
  | 'recovered'
  | 'posts'
  | 'limitsUnjudged'
  | 'storageFailures'
export type HistogramName =
  | 'attemptDuration'
  | 'wait'
  | 'postDuration'
  | 'storageDuration'
  | 'commitItems'
  | 'requestDuration'
export type MetricName = CounterName | HistogramName
export type GaugeName = 'backlog' | 'oldestDue' | 'held' | 'storageAnswers' | 'running' | 'paused'

/** The metrics of this process, by their names in a snapshot. */
export const METRICS: Readonly<
  Record<CounterName, Metric & { readonly kind: 'counter' }> &
    Record<HistogramName, Metric & { readonly kind: 'histogram' }>
> = {
  accepted: counter('notifications_accepted_total', ['channel'], 'Stored notifications.'),
  refused: counter(
    'notifications_refused_total',
    ['operation', 'code'],
    'Refused sends, resends and items of batches.',
  ),
  skipped: counter(
    'notifications_skipped_total',
    ['channel', 'decided_by'],
    'Notifications that were not sent, by the preference that decided; empty without an address.',
  ),
  events: counter('events_total', ['event'], 'Published events of notifications.'),
  attempts: counter(
    'attempts_total',
    ['channel', 'provider', 'outcome', 'code'],
    'Calls of providers; the code is empty if the provider accepted.',
  ),
  leasesLost: counter(
    'leases_lost_total',
    [],
    'Jobs that another process took over while this one worked on them.',
  ),
  recovered: counter(
    'jobs_recovered_total',
    ['lane'],
    'Jobs that this process took over from a process that had ended.',
  ),
  posts: counter(
    'webhook_posts_total',
    ['event', 'status'],
    'Posts to webhook endpoints by class of answer, and events that listeners `handled` or that `failed`.',
  ),
  limitsUnjudged: counter(
    'limits_unjudged_total',
    ['answer'],
    'Decisions without the rate limiter: allowed uncounted, or failed.',
  ),
  storageFailures: counter('storage_failures_total', ['verb'], 'Failed calls of the storage.'),
  attemptDuration: histogram(
    'attempt_duration_seconds',
    ['channel', 'provider'],
    SECONDS,
    'Duration of provider calls.',
  ),
  wait: histogram(
    'wait_seconds',
    ['lane'],
    LONG_SECONDS,
    'Time from the due time of a job to its claim: the delay that the backlog causes.',
  ),
  postDuration: histogram(
    'webhook_post_duration_seconds',
    [],
    SECONDS,
    'Duration of posts to webhook endpoints and of listeners.',
  ),
  storageDuration: histogram('storage_duration_seconds', ['verb'], SECONDS, 'Duration of storage calls.'),
  commitItems: histogram('commit_items', ['verb'], ITEMS, 'Items per commit of the storage.'),
  requestDuration: histogram(
    'http_request_duration_seconds',
    ['route', 'status'],
    SECONDS,
    'Duration of REST API requests, from the headers of the request to the answer.',
  ),
}

/** The value of each label, in the order of the metric's labels. */
export type LabelValues = readonly string[]

/** Adds to a counter, or a value to a histogram. */
export type Measure = (metric: MetricName, value: number, labels: LabelValues) => void

const NO_LABELS: LabelValues = []

/** Updates the metrics for a fact. */
export function measureFact(fact: TelemetryFact, measure: Measure): void {
  switch (fact.type) {
    case 'accepted':
      measure('accepted', fact.count, [fact.channel])
      break
    case 'refused':
      measure('refused', fact.count, [fact.operation, fact.code])
      break
    case 'skipped':
      measure('skipped', 1, [fact.channel, fact.decidedBy])
      break
    case 'published':
      measure('events', 1, [fact.event])
      break
    case 'claimed':
      measure('wait', fact.waitedMs / 1000, [fact.lane])
      break
    case 'recovered':
      measure('recovered', 1, [fact.lane])
      break
    case 'attempt':
      measure('attempts', 1, [fact.channel, fact.provider, fact.outcome, fact.code ?? ''])
      measure('attemptDuration', fact.durationMs / 1000, [fact.channel, fact.provider])
      break
    case 'posted':
      measure('posts', 1, [fact.event, fact.status])
      measure('postDuration', fact.durationMs / 1000, NO_LABELS)
      break
    case 'unjudged':
      measure('limitsUnjudged', 1, [fact.answer])
      break
    case 'lease_lost':
      measure('leasesLost', 1, NO_LABELS)
      break
    case 'stored':
      if (fact.failed) measure('storageFailures', 1, [fact.verb])
      if (fact.verb !== 'claim' && fact.verb !== 'renew') measure('commitItems', fact.items, [fact.verb])
      measure('storageDuration', fact.durationMs / 1000, [fact.verb])
      break
    case 'request':
      measure('requestDuration', fact.durationMs / 1000, [fact.route, String(fact.status)])
      break
  }
}

/**
 * Gauges, read on demand: those of the storage are the same in every process, those of providers are this process's
 * own.
 */
export const GAUGES: Readonly<Record<GaugeName, Pick<Metric, 'name' | 'labels' | 'help'>>> = {
  backlog: {
    name: 'carillon_backlog_jobs',
    labels: ['lane', 'state'],
    help: 'Jobs in the storage by lane and state (due, scheduled, leased); counts stop at 10,000.',
  },
  oldestDue: {
    name: 'carillon_backlog_oldest_due_seconds',
    labels: ['lane'],
    help: 'Age of the oldest due job; 0: none is due.',
  },
  held: {
    name: 'carillon_backlog_held',
    labels: [],
    help: 'Webhook deliveries that wait for the redelivery of a disabled endpoint; stops at 10,000.',
  },
  storageAnswers: {
    name: 'carillon_storage_answers',
    labels: [],
    help: '1 while the storage answers, otherwise 0; without an answer the backlog is unknown.',
  },
  running: {
    name: 'carillon_provider_running',
    labels: ['channel', 'provider'],
    help: 'Messages of this process under way to a provider.',
  },
  paused: {
    name: 'carillon_provider_paused',
    labels: ['channel', 'provider', 'organization'],
    help: '1 while this process pauses a provider after faults, otherwise 0. The organization is empty for a shared provider; those of organizations appear only while they are paused.',
  },
}

/** Maximum of the counts of a backlog. */
export const MOST_COUNTED = 10_000

/** The lane of all webhook endpoints in metrics. */
export const EVENTS_LANE = 'events'
