import { coalesce } from '../../coalesce/coalesce.ts'
import type { EndpointEvent } from '../../domain/endpoint-health.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { NotificationContent } from '../../domain/notification.ts'
import type { ProcessListeners } from '../../domain/process-event.ts'
import { removedContent } from '../../domain/sensitive.ts'
import type { SpanEnd, SpanStart } from '../../domain/telemetry.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedJob, LeaseRef, StartRef } from '../../ports/storage/claim.ts'
import type { SettleAnswer, Settlement } from '../../ports/storage/settle.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { metricLaneOf } from '../telemetry/fold-lanes.ts'
import type { Observer } from '../telemetry/observer.ts'
import { createAttemptEvents } from './attempt-events.ts'
import type { Leases } from './leases.ts'
import { pause } from './pause.ts'
import { createStop, type Stop } from './stop.ts'

/** How both kinds of job begin and end an attempt, in commits that concurrent attempts share. */
export interface Attempts {
  /**
   * Records that an attempt begins. False: the job is another's now, or nobody knows whether that was recorded; then no
   * attempt is made and the job goes back, if the storage can prove that it was not.
   */
  begin(ref: StartRef): Promise<boolean>
  /**
   * Ends an attempt, or the job without one. While the storage is away it is tried again for as long as a lease lasts:
   * an outcome that is not recorded can mean a second hand-over.
   */
  settle(settlement: Settlement): Promise<void>
  /** Returns claims of which no attempt is made, as surely as {@link settle} records: one that its claim has begun would count. */
  release(refs: readonly LeaseRef[]): Promise<void>
  /**
   * Runs one job under its lease. What `work` throws is reported, and the job is left to its lease's expiry.
   *
   * @param work is stopped when the lease is lost or the notifier stops in haste
   */
  run(job: ClaimedJob, work: (stop: Stop) => Promise<void>): Promise<void>
  /**
   * Right before a hand-over: a job that another process may have taken is stopped, because its lease was lost while this
   * one stood still. Undefined: all leases last.
   */
  secure(stop: Stop): Promise<void> | undefined
  /** Aborts every attempt that runs. */
  abort(): void
}

export interface AttemptsOptions {
  readonly storage: Storage
  readonly leases: Leases
  readonly clock: Clock
  readonly observer: Observer
  readonly listeners: ProcessListeners
  emit(event: NotificationEvent | EndpointEvent): void
  /** A job is due again, now or later. */
  goesOn(): void
  onError(error: unknown): void
}

/** Pauses between attempts to record a beginning or an outcome. */
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 5_000

const STOPPING = 'The notifier is stopping.'
const LOST = 'The lease of this job was lost.'

const MOST_SETTLED = 1_000
/** An outcome holds up no slot, so it may wait for others. */
const SETTLE_AFTER_TURNS = 16

export function createAttempts(options: AttemptsOptions): Attempts {
  const { storage, leases, clock, observer, emit, goesOn, onError } = options
  const events = createAttemptEvents(options.listeners)
  const begin = coalesce(beginSet)
  const settle = coalesce<Settlement, SettleAnswer>(
    (settlements) => surely(() => storage.settle(settlements)),
    { maxWeight: MOST_SETTLED, turns: SETTLE_AFTER_TURNS },
  )
  /** Recovered jobs that run here. */
  const recovered = new Map<string, ClaimedJob>()
  /** What stays of sensitive messages whose jobs run here. */
  const removals = new Map<string, NotificationContent>()
  const stops = new Set<Stop>()
  const stopping = new AbortController()
  /** How long jobs keep their slots where they cannot begin: freed at once they would be claimed again without a pause. */
  let backAfterMs = 0

  /** Asks the storage until it answers, for as long as a lease lasts. */
  async function surely<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
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

  /** Once for each takeover: a job that goes back unasked is still to be taken over, by whoever claims it next. */
  function countRecovered({ jobId, next }: Settlement): void {
    const job = recovered.get(jobId)
    if (job === undefined || (next.kind === 'retry' && next.unasked === true)) return
    observer.record({ type: 'recovered', lane: metricLaneOf(job) })
  }

  /** The end of a sensitive message's delivery takes its content along. */
  function withRemoval(settlement: Settlement): Settlement {
    const content = removals.get(settlement.jobId)
    if (content === undefined || settlement.kind === 'event' || settlement.next.kind !== 'end')
      return settlement
    return { ...settlement, content }
  }

  async function beginSet(refs: readonly StartRef[]): Promise<readonly (boolean | Promise<boolean>)[]> {
    try {
      const begun = await storage.startAttempts(refs)
      backAfterMs = 0
      return begun
    } catch (error) {
      onError(error)
      // A commit whose end is unknown may have counted the attempts: the storage looks, and then leaves them to their leases.
      // Those that begin meanwhile do not wait for that.
      const back = goBack(refs, backAfterMs)
      backAfterMs = Math.min(Math.max(FIRST_DELAY_MS, 2 * backAfterMs), LONGEST_DELAY_MS)
      return refs.map(() => back)
    }
  }

  const release = (refs: readonly LeaseRef[]): Promise<void> => surely(() => storage.release(refs))

  async function goBack(refs: readonly StartRef[], afterMs: number): Promise<false> {
    if (afterMs > 0) await pause(afterMs, stopping.signal, clock)
    await release(refs)
    goesOn()
    return false
  }

  return {
    // What listeners hear of a job they hear in its own trace, which is its caller's and not that of the set.
    async begin(ref) {
      const begun = await begin(ref)
      if (begun) events.started(ref)
      return begun
    },
    async settle(given) {
      const settlement = withRemoval(given)
      const answer = await observer.span({ name: 'settle' }, () => settle(settlement), spanEnd)
      // It keeps its lease, and is recovered when that ends; that it happened must not go unseen.
      if (answer.kind === 'failed') onError(answer.error)
      if (answer.kind !== 'settled') return
      countRecovered(settlement)
      events.settled(settlement)
      if (settlement.next.kind === 'retry') goesOn()
      for (const event of answer.events) emit(event)
      for (const event of answer.endpointEvents ?? []) emit(event)
    },
    release,
    async run(job, work) {
      const stop = createStop()
      // It was claimed before, and came only now: it must not begin when nobody waits for its end any more.
      if (stopping.signal.aborted) stop.abort(new Error(STOPPING))
      stops.add(stop)
      const letGo = leases.hold(job, () => stop.abort(new Error(LOST)))
      const forget = events.follow(job)
      if (job.recovered) recovered.set(job.jobId, job)
      const removal = removalOf(job)
      if (removal !== undefined) removals.set(job.jobId, removal)
      try {
        await observer.span(
          spanStart(job),
          () => work(stop),
          () => aboutJob(job),
        )
      } catch (error) {
        onError(error)
      } finally {
        forget()
        // This process may have it under a later lease by now.
        if (recovered.get(job.jobId) === job) recovered.delete(job.jobId)
        if (removals.get(job.jobId) === removal) removals.delete(job.jobId)
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

function removalOf(job: ClaimedJob): NotificationContent | undefined {
  if (job.kind === 'event' || job.notification.content.sensitive !== true) return undefined
  return removedContent(job.notification.content)
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
