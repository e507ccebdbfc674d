import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { ownLane } from '../../core/channels/provider-registry.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { groupFailures } from '../../core/notification/failure-groups.ts'
import type { JobCounts, JobsOf } from '../../core/ports/storage/job-counts.ts'
import type { LogCounts } from '../../core/ports/storage/logs.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseOptions } from '../../core/tenancy/scope.ts'
import type { StatisticsApi } from './api.ts'
import { PERIODS, type Period, type SpanRecord, type Statistics, type StatisticsQuery } from './model.ts'
import { providersSince } from './providers.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** What is counted at once, the spans that are shown, and their number. */
const PERIOD: Readonly<Record<Period, { countedMs: number; spanMs: number; spans: number }>> = {
  '1h': { countedMs: 5 * MINUTE_MS, spanMs: 5 * MINUTE_MS, spans: 12 },
  '24h': { countedMs: HOUR_MS, spanMs: HOUR_MS, spans: 24 },
  // Hours are remembered, so that most of a week is counted once.
  '7d': { countedMs: HOUR_MS, spanMs: 6 * HOUR_MS, spans: 28 },
}
/** Where every count ends. */
const MOST = 10_000
/** How long after its end commits of a span may still arrive. */
const SETTLED_MS = 5 * 60_000
/** Spans that are remembered: the hours of a week of some 60 organizations. */
const MOST_REMEMBERED = 10_000

const NOTHING: LogCounts = { accepted: 0, sent: 0, delivered: 0, failed: 0, bounced: 0, exact: true }
const queryOptions: z.ZodType<StatisticsQuery> = z.strictObject({ period: z.enum(PERIODS).optional() })

/** Counts for an overview of an organization, or of all. Concurrent calls share one read. */
export function createStatistics({
  storage,
  organizations,
  kinds,
  clock,
  providers: health,
}: FeatureCore): PerTenant<StatisticsApi> {
  const remembered = new Map<string, LogCounts>()
  const running = new Map<string, Promise<Statistics>>()

  async function countOf(organizationId: string, from: number, until: number): Promise<LogCounts> {
    const key = `${organizationId} ${from} ${until}`
    const known = remembered.get(key)
    if (known !== undefined) return known
    const counts = await storage.logs.count({ organizationId, from, until }, MOST)
    if (until + SETTLED_MS <= clock.now()) {
      if (remembered.size >= MOST_REMEMBERED) remembered.clear()
      remembered.set(key, counts)
    }
    // A storage that works synchronously would otherwise keep the process from everything else until the last span.
    await nextTurn()
    return counts
  }

  async function spanOf(organizationId: string, from: number, period: Period): Promise<LogCounts> {
    const { countedMs, spanMs } = PERIOD[period]
    let total = NOTHING
    for (let at = from; at < from + spanMs && at <= clock.now(); at += countedMs)
      total = sumOf(total, await countOf(organizationId, at, at + countedMs))
    return total
  }

  async function read(organizationId: string, period: Period): Promise<Statistics> {
    await organizations.readable(organizationId)
    const now = clock.now()
    const { spanMs } = PERIOD[period]
    const first = (Math.floor(now / spanMs) + 1 - PERIOD[period].spans) * spanMs
    const spans: SpanRecord[] = []
    let total = NOTHING
    for (let from = first; from <= now; from += spanMs) {
      const counts = await spanOf(organizationId, from, period)
      total = sumOf(total, counts)
      spans.push({ from: isoOf(from), until: isoOf(from + spanMs), ...counts })
    }
    const failures = await groupFailures(storage, { organizationId, from: first })
    const providers = await providersSince(storage, organizationId, first, health())
    const waiting = waitingIn(await storage.countJobs(jobsOf(organizationId), MOST))
    const successRate = successOf(total)
    return { at: isoOf(now), period, spans, successRate, failures, providers, waiting, most: MOST }
  }

  function jobsOf(organizationId: string): JobsOf {
    if (organizationId === ALL_ORGANIZATIONS) return 'all'
    const lanes = [...kinds.known.keys()].flatMap((channel) => [channel, ownLane(channel, organizationId)])
    return { organizationId, lanes }
  }

  return {
    async get(organizationId, query) {
      const { period = '24h' } = parseOptions(queryOptions, query)
      const key = `${organizationId} ${period}`
      const shared = running.get(key)
      if (shared !== undefined) return shared
      const reading = read(organizationId, period).finally(() => running.delete(key))
      running.set(key, reading)
      return reading
    },
  }
}

const isoOf = (at: number): string => new Date(at).toISOString()

function sumOf(one: LogCounts, other: LogCounts): LogCounts {
  return {
    accepted: one.accepted + other.accepted,
    sent: one.sent + other.sent,
    delivered: one.delivered + other.delivered,
    failed: one.failed + other.failed,
    bounced: one.bounced + other.bounced,
    exact: one.exact && other.exact,
  }
}

/** What was sent before the period may bounce in it. */
function successOf({ sent, failed, bounced }: LogCounts): number | null {
  const ended = sent + failed - bounced
  return ended === 0 ? null : Math.max(0, sent - bounced) / ended
}

function waitingIn({ counts, now }: JobCounts): Statistics['waiting'] {
  const waiting = { due: 0, scheduled: 0, retrying: 0, running: 0 }
  let oldestDueMs: number | null = null
  for (const { lane, state, jobs, dueAt } of counts) {
    // The lane of events, which only a count of all jobs has.
    if (lane === null) continue
    waiting[state] = Math.min(waiting[state] + jobs, MOST)
    if (state === 'due') oldestDueMs = Math.max(oldestDueMs ?? 0, now - dueAt)
  }
  return { ...waiting, oldestDueMs }
}
