import type { SpanEnd } from '../observe/telemetry.ts'
import type { ClaimedJob } from '../ports/storage/claim.ts'
import type { DeliveryAttempt } from '../ports/storage/webhook-endpoints.ts'
import type { Ending } from './attempts.ts'
import type { EventDelivery } from './event-lane.ts'
import type { Lane } from './lane.ts'
import type { Listener, PublishedEvent } from './listeners.ts'
import { maxAttempts, retryDelay, WEBHOOK_RETRY } from './retry-delay.ts'
import type { Slots } from './slots.ts'
import type { Stop } from './stop.ts'

type EventJob = Extract<ClaimedJob, { kind: 'event' }>

/** Dependencies of listeners. */
export type ListenerDelivery = Pick<EventDelivery, 'attempts' | 'clock' | 'observer' | 'random'> & {
  /** Receives what a handler threw. */
  handlerFailed(listener: string, error: unknown): void
}

interface Failure {
  readonly error: unknown
  /** By a stop, or because the lease was lost. */
  readonly halted: boolean
}

interface Handled {
  /** Null: the handler fulfilled. */
  readonly failure: Failure | null
  readonly durationMs: number
}

/** After the last attempt, whose log entry the recovery has written. */
const LOST: Ending<'event'> = { ownFault: true, ended: 'failed', next: { kind: 'end' } }

/** Stored part of an error's text, for the delivery log. */
const MAX_TEXT = 2_048

/** The lane of one listener of this process. */
export function createListenerLane(listener: Listener, slots: Slots, delivery: ListenerDelivery): Lane {
  const { attempts, clock, observer, random, handlerFailed } = delivery

  async function deliver(job: EventJob, stop: Stop): Promise<Ending<'event'> | null> {
    const { eventId, eventType, endpoint } = job.delivery
    // Each of its attempts may have ended with the process.
    if (job.recovered && job.attempts >= maxAttempts(WEBHOOK_RETRY)) return LOST
    if (job.begun !== true && !(await attempts.begin(job, endpoint.id))) return null
    const handled = await observer.span(
      { name: 'post', event: eventType, eventId, endpointId: endpoint.id },
      () => handOver(job, stop),
      spanEnd,
    )
    const { failure, durationMs } = handled
    const status = failure === null ? 'handled' : 'failed'
    observer.record({ type: 'posted', event: eventType, status, durationMs })
    return endingOf(job, handled, random())
  }

  async function handOver(job: EventJob, stop: Stop): Promise<Handled> {
    const began = clock.monotonic()
    const failure = await failureOf(job, stop)
    return { failure, durationMs: clock.monotonic() - began }
  }

  async function failureOf(job: EventJob, stop: Stop): Promise<Failure | null> {
    const late = new Error(`The handler has not fulfilled within ${listener.timeoutMs} ms.`)
    const aborted = new Promise<Failure>((resolve) => {
      stop.onAbort((error) => resolve({ error, halted: error !== late }))
    })
    // It came after the stop had aborted the others.
    if (stop.aborted()) return aborted
    const cancel = clock.timer(listener.timeoutMs, () => {
      handlerFailed(listener.name, late)
      stop.abort(late)
    })
    try {
      return await Promise.race([aborted, call(job, stop)])
    } finally {
      cancel()
    }
  }

  /** Never rejects. What comes after the time limit changes nothing. */
  async function call(job: EventJob, stop: Stop): Promise<Failure | null> {
    const { eventId: id, payload } = job.delivery
    try {
      const event = JSON.parse(payload) as PublishedEvent
      await listener.handler(event, { id, attempt: job.attempts + 1, signal: stop.signal() })
      return null
    } catch (error) {
      if (!stop.aborted()) handlerFailed(listener.name, error)
      return { error, halted: false }
    }
  }

  return {
    begin: true,
    free: slots.free,
    async run(job) {
      if (job.kind !== 'event') return
      await attempts.run(job, (stop) =>
        slots.run(
          job.organizationId,
          () => deliver(job, stop),
          (ending) => attempts.settle(job, ending),
        ),
      )
    },
  }
}

function endingOf(job: EventJob, { failure, durationMs }: Handled, random: number): Ending<'event'> {
  const number = job.attempts + 1
  const attempt: DeliveryAttempt = {
    attempt: number,
    status: null,
    response: failure === null ? '' : textOf(failure.error),
    durationMs: Math.round(durationMs),
    succeeded: failure === null,
  }
  if (failure === null) return { attempt, ended: 'delivered', next: { kind: 'end' } }
  // An attempt that a stop ends is not the last. No failure of the application's own code disables a listener.
  const delayMs = retryDelay(WEBHOOK_RETRY, number, random) ?? (failure.halted ? 0 : null)
  return delayMs === null
    ? { attempt, ownFault: true, ended: 'failed', next: { kind: 'end' } }
    : { attempt, ownFault: true, next: { kind: 'retry', delayMs } }
}

function textOf(error: unknown): string {
  if (error instanceof Error) return String(error.message).slice(0, MAX_TEXT)
  return typeof error === 'string' ? error.slice(0, MAX_TEXT) : 'A value that is not an Error was thrown.'
}

function spanEnd({ failure }: Handled): SpanEnd {
  return failure === null ? {} : { failure: failure.halted ? 'aborted' : 'failed' }
}
