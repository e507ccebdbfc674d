import { coalesce } from '../loop/coalesce.ts'
import type { NotificationEvent } from '../notification/event-payload.ts'
import type { ProcessListeners } from '../notification/process-event.ts'
import { removedContent } from '../notification/sensitive.ts'
import { metricLaneOf } from '../observe/fold-lanes.ts'
import type { Observer } from '../observe/observer.ts'
import type { SpanEnd, SpanStart } from '../observe/telemetry.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimedJob, LeaseRef, StartRef } from '../ports/storage/claim.ts'
import type { SettleAnswer, Settlement } from '../ports/storage/settle.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { createAttemptEvents } from './attempt-events.ts'
import type { EndpointEvent } from './endpoint-health.ts'
import type { Leases } from './leases.ts'
import { pause } from './pause.ts'
import { createStop, type Stop } from './stop.ts'

/** A settlement without its job. */
export type Ending<Kind extends Settlement['kind'] = Settlement['kind']> = Kind extends Kind
  ? Omit<Extract<Settlement, { kind: Kind }>, 'jobId' | 'token' | 'kind'>
  : never

/** Begins and ends attempts of both kinds of job, in commits that concurrent attempts share. */
export interface Attempts {
  /**
   * Records the start of an attempt. False: the job belongs to another process, or the result is unknown. Then no
   * attempt is made, and the job is returned if the storage can prove that nothing was recorded.
   *
   * @param to replaces the notification's address
   */
  begin(job: ClaimedJob, provider: string, to?: string): Promise<boolean>
  /**
   * Ends an attempt, or a job without one. Retries for the length of a lease while the storage is away: an unrecorded
   * outcome can cause a second hand-over.
   */
  settle<Job extends ClaimedJob>(job: Job, ending: Ending<Job['kind']>): Promise<void>
  /** Returns claims without an attempt. Retries as {@link settle} does: an attempt that the claim began would count. */
  release(refs: readonly LeaseRef[]): Promise<void>
  /**
   * Runs a job under its lease. An error of `work` is reported, and the job comes back when its lease expires.
   *
   * @param work stopped if the lease is lost or the deadline of a stop has passed
   */
  run(job: ClaimedJob, work: (stop: Stop) => Promise<void>): Promise<void>
  /**
   * Checks the lease right before a hand-over, after this process stood still: a job that another process may have
   * taken is stopped. Undefined: all leases are valid.
   */
  secure(stop: Stop): Promise<void> | undefined
  /** Aborts all running attempts. */
  abort(): void
}

export interface AttemptsOptions {
  readonly storage: Storage
  readonly leases: Leases
  readonly clock: Clock
  readonly observer: Observer
  readonly listeners: ProcessListeners
  emit(event: NotificationEvent | EndpointEvent): void
  /** Called when a job has a later attempt. */
  onRetry(): void
  onError(error: unknown): void
}

/** First delay before repeating a failed commit. */
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 5_000

const STOPPING = 'The notifier is stopping.'
const LOST = 'The lease of this job was lost.'

const MOST_SETTLED = 1_000
/** An outcome holds no slot, so it may wait for others to share the commit. */
const SETTLE_AFTER_TURNS = 16

export function createAttempts(options: AttemptsOptions): Attempts {
  const { storage, leases, clock, observer, emit, onRetry, onError } = options
  const events = createAttemptEvents(options.listeners)
  const begin = coalesce(beginSet)
  const settle = coalesce<Settlement, SettleAnswer>(
    (settlements) => untilAnswered(() => storage.settle(settlements)),
    { maxWeight: MOST_SETTLED, turns: SETTLE_AFTER_TURNS },
  )
  const stops = new Set<Stop>()
  const stopping = new AbortController()
  /**
   * Delay before jobs that cannot begin free their slots: freed at once, they would be claimed again without a pause.
   */
  let backAfterMs = 0

  /** Calls the storage until it answers, for the length of a lease. */
  async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const since = clock.monotonic()
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
      try {
        return await ask()
      } catch (error) {
        if (stopping.signal.aborted || clock.monotonic() - since > leases.leaseMs) throw error
        onError(error)
        await pause(delayMs, stopping.signal, clock)
      }
    }
  }

  /** Once per takeover: a job that goes back without a provider call is still recovered for its next claim. */
  function countRecovered(job: ClaimedJob, { next }: Ending): void {
    if (!job.recovered || (next.kind === 'retry' && next.notSent === true)) return
    observer.record({ type: 'recovered', lane: metricLaneOf(job) })
  }

  async function beginSet(refs: readonly StartRef[]): Promise<readonly (boolean | Promise<boolean>)[]> {
    try {
      const begun = await storage.startAttempts(refs)
      backAfterMs = 0
      return begun
    } catch (error) {
      onError(error)
      // If the result of the commit is unknown, it may have counted the attempts: the storage checks, and leaves those
      // to their leases. New attempts do not wait for that.
      const back = goBack(refs, backAfterMs)
      backAfterMs = Math.min(Math.max(FIRST_DELAY_MS, 2 * backAfterMs), LONGEST_DELAY_MS)
      return refs.map(() => back)
    }
  }

  const release = (refs: readonly LeaseRef[]): Promise<void> => untilAnswered(() => storage.release(refs))

  async function goBack(refs: readonly StartRef[], afterMs: number): Promise<false> {
    if (afterMs > 0) await pause(afterMs, stopping.signal, clock)
    await release(refs)
    onRetry()
    return false
  }

  return {
    // Listeners run in the trace of the job's caller, not in that of the shared commit.
    async begin(job, provider, to) {
      const { jobId, token } = job
      const begun = await begin(
        to === undefined ? { jobId, token, provider } : { jobId, token, provider, to },
      )
      if (begun) events.started(job, provider)
      return begun
    },
    async settle(job, ending) {
      const settlement = settlementOf(job, ending)
      const answer = await observer.span({ name: 'settle' }, () => settle(settlement), spanEnd)
      // The job keeps its lease and is recovered after it, but the failure must be visible.
      if (answer.kind === 'failed') onError(answer.error)
      if (answer.kind !== 'settled') return
      countRecovered(job, settlement)
      events.settled(job, settlement)
      if (settlement.next.kind === 'retry') onRetry()
      for (const event of answer.events) emit(event)
      for (const event of answer.endpointEvents ?? []) emit(event)
    },
    release,
    async run(job, work) {
      const stop = createStop()
      // Claimed earlier but started late: it must not begin after the stop has aborted the others.
      if (stopping.signal.aborted) stop.abort(new Error(STOPPING))
      stops.add(stop)
      const letGo = leases.hold(job, () => stop.abort(new Error(LOST)))
      try {
        await observer.span(
          spanStart(job),
          () => work(stop),
          () => aboutJob(job),
        )
      } catch (error) {
        onError(error)
      } finally {
        letGo()
        stops.delete(stop)
      }
    },
    secure(stop) {
      return leases.secure()?.catch((error: unknown) => {
        onError(error)
        stop.abort(new Error(LOST))
      })
    },
    abort() {
      for (const stop of stops) stop.abort(new Error(STOPPING))
      stopping.abort()
    },
  }
}

/** The last settlement of a sensitive message removes its content. */
function settlementOf(job: ClaimedJob, ending: Ending): Settlement {
  const { jobId, token, kind } = job
  const settlement = { jobId, token, kind, ...ending } as Settlement
  if (kind === 'event' || ending.next.kind !== 'end') return settlement
  const { content } = job.notification
  return content.sensitive === true
    ? ({ ...settlement, content: removedContent(content) } as Settlement)
    : settlement
}

function spanStart(job: ClaimedJob): SpanStart {
  const { trace: parent } = job.kind === 'event' ? job.delivery : job.notification
  return { name: 'deliver', lane: metricLaneOf(job), parent, waitedMs: job.waitedMs }
}

function aboutJob(job: ClaimedJob): SpanEnd {
  if (job.kind === 'event') return {}
  return { notificationId: job.notification.id, channel: job.notification.channel }
}

function spanEnd({ kind }: SettleAnswer): SpanEnd {
  return kind === 'settled' ? {} : { failure: kind }
}
