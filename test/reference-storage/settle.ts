import {
  type EndpointEvent,
  endpointEvent,
  endpointEventId,
  judgeEndpoint,
} from '../../src/core/delivery/endpoint-health.ts'
import type { NotificationEvent } from '../../src/core/notification/event-payload.ts'
import { providerEventId } from '../../src/core/notification/provider-event.ts'
import type { SettleAnswer, Settlement } from '../../src/core/ports/storage/settle.ts'
import { addFacts, publishOther } from './facts.ts'
import { makeDue, removeJob, underLease } from './jobs.ts'
import { matchUnmatched } from './receipts.ts'
import { dataError } from './records.ts'
import { type Job, type MemoryState, type StoredDelivery, setContent } from './state.ts'

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>

/** Ends the attempt of a leased job. */
export function settleOne(state: MemoryState, settlement: Settlement): SettleAnswer {
  try {
    return settle(state, settlement)
  } catch (error) {
    return { kind: 'failed', error: dataError(error) }
  }
}

function settle(state: MemoryState, settlement: Settlement): SettleAnswer {
  const job = underLease(state, settlement)
  if (job === undefined || job.subject.kind !== settlement.kind) return { kind: 'stale' }
  const events: NotificationEvent[] = []
  let endpointEvents: EndpointEvent[] = []
  if (settlement.kind === 'notification' && job.subject.kind === 'notification') {
    const { notification } = job.subject
    events.push(...addFacts(state, notification, settlement.facts, 'engine'))
    setContent(notification, settlement.content)
    const { providerEvent: told } = settlement
    if (told !== undefined) publishOther(state, told, providerEventId(told))
    for (const fact of settlement.facts) {
      if (fact.type === 'sent') events.push(...matchUnmatched(state, notification, fact))
    }
  }
  // After a settlement it need not run alone, unless no provider was asked.
  job.recovered &&= settlement.next.kind === 'retry' && settlement.next.unasked === true
  if (settlement.kind === 'event' && job.subject.kind === 'event') {
    endpointEvents = settleDelivery(state, job, job.subject.delivery, settlement)
  } else {
    next(state, job, settlement)
  }
  return { kind: 'settled', events, ...(endpointEvents.length > 0 ? { endpointEvents } : {}) }
}

function settleDelivery(
  state: MemoryState,
  job: Job,
  delivery: StoredDelivery,
  settlement: EventSettlement,
): EndpointEvent[] {
  if (settlement.attempt !== undefined) delivery.attempts.push({ ...settlement.attempt, at: state.now() })
  if (settlement.next.kind === 'end') delivery.state = settlement.ended ?? 'failed'
  next(state, job, settlement)
  return judge(state, delivery.endpointId, settlement)
}

function judge(state: MemoryState, endpointId: string, settlement: EventSettlement): EndpointEvent[] {
  const endpoint = state.endpoints.get(endpointId)
  if (endpoint === undefined || endpoint.status === 'disabled') return []
  const verdict = judgeEndpoint(endpoint.health, settlement, state.now(), endpoint.url)
  state.endpoints.set(endpointId, { ...endpoint, health: verdict.health })
  if (verdict.disable !== null) disable(state, endpointId, verdict.disable)
  const event = endpointEvent(endpoint, verdict, state.now())
  if (event === null) return []
  publishOther(state, event, endpointEventId(event))
  return [event]
}

function next(state: MemoryState, job: Job, settlement: Settlement): void {
  if (settlement.next.kind === 'end') {
    removeJob(state, job)
    return
  }
  if (settlement.next.outage === true) job.outages += 1
  makeDue(state, job, state.now() + settlement.next.delayMs)
  state.enqueue?.(job)
}

/** Disables an endpoint and holds its jobs; leased ones when they come back. */
export function disable(state: MemoryState, endpointId: string, reason: 'gone' | 'failing' | 'manual'): void {
  const endpoint = state.endpoints.get(endpointId)
  if (endpoint === undefined) return
  state.endpoints.set(endpointId, { ...endpoint, status: 'disabled', disabledReason: reason })
  for (const job of state.jobs.values()) {
    if (job.lane === endpointId && job.state !== 'leased') hold(state, job)
  }
}

/** Keeps a delivery without a job. */
export function hold(state: MemoryState, job: Job): void {
  if (job.subject.kind !== 'event') return
  job.subject.delivery.state = 'held'
  removeJob(state, job)
}
