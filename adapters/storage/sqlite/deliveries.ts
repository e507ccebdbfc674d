import { eventId, type NotificationEvent } from '../../../src/domain/event-payload.ts'
import type { EventType } from '../../../src/domain/facts.ts'
import type { DeliveryAttempt } from '../../../src/ports/storage/webhook-endpoints.ts'
import type { Connection } from './connection.ts'
import { eventJob, subjectOf } from './jobs.ts'

const SELECT_ENDPOINTS = 'SELECT id, status, events FROM carillon_webhook_endpoints WHERE organization = ?'

const INSERT_DELIVERY = `
  INSERT INTO carillon_deliveries (event_id, event_type, organization, endpoint, created_at, state, payload)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

/** After the insert, so that nothing is bound for it where nobody traces. */
const SET_TRACE = 'UPDATE carillon_deliveries SET trace = ? WHERE id = ?'

const INSERT_JOB = `
  INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (?, ?, ?, 0, 0, ?)`

const INSERT_ATTEMPT = 'INSERT INTO carillon_delivery_attempts (delivery, at, attempt) VALUES (?, ?, ?)'

const UPDATE_STATE = 'UPDATE carillon_deliveries SET state = ? WHERE id = ?'

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

/** The jobs of an endpoint that nobody has leased; one statement per partial index. */
const SELECT_LANE = [0, 1, 3].map(
  (state) => `SELECT id FROM carillon_jobs WHERE state = ${state} AND lane = ?`,
)

const DISABLE = `
  UPDATE carillon_webhook_endpoints SET status = 'disabled', disabled_reason = ? WHERE id = ? AND status = 'active'`

/** Collects what one transaction announces; knows each organization's endpoints after the first look. */
export interface Announcements {
  readonly now: number
  /** @param trace of its notification */
  add(event: NotificationEvent, trace: string | null): void
}

interface EndpointChoice {
  readonly id: string
  readonly active: boolean
  readonly events: ReadonlySet<EventType>
}

export interface Deliveries {
  /** To be used for one transaction. */
  announcements(now: number): Announcements
  recordAttempt(delivery: number, attempt: DeliveryAttempt, now: number): void
  setState(delivery: number, state: 'delivered' | 'failed'): void
  /** Keeps a delivery without a job. */
  hold(delivery: number): void
  /** Disables an endpoint and holds its jobs; those that are leased are held when they come back. */
  disable(endpoint: string, reason: 'gone' | 'manual'): void
}

export function createDeliveries(connection: Connection): Deliveries {
  const selectEndpoints = connection.statement<{ id: string; status: string; events: string }>(
    SELECT_ENDPOINTS,
  )
  const insertDelivery = connection.statement(INSERT_DELIVERY)
  const setTrace = connection.statement(SET_TRACE)
  const insertJob = connection.statement(INSERT_JOB)
  const insertAttempt = connection.statement(INSERT_ATTEMPT)
  const updateState = connection.statement(UPDATE_STATE)
  const deleteJob = connection.statement(DELETE_JOB)
  const selectLane = SELECT_LANE.map((sql) => connection.statement<{ id: number }>(sql))
  const disable = connection.statement(DISABLE)

  function endpointsOf(organization: string): EndpointChoice[] {
    return selectEndpoints()
      .all(organization)
      .map(({ id, status, events }) => ({
        id,
        active: status === 'active',
        events: new Set(JSON.parse(events) as EventType[]),
      }))
  }

  function hold(delivery: number): void {
    updateState().run('held', delivery)
    deleteJob().run(eventJob(delivery))
  }

  /** One delivery for each endpoint that chose the event, and a job unless the endpoint is disabled. */
  function announce(
    event: NotificationEvent,
    endpoints: readonly EndpointChoice[],
    trace: string | null,
    now: number,
  ): void {
    const { organizationId, id, sequence } = event.data
    const choosing = endpoints.filter(({ events }) => events.has(event.event))
    if (choosing.length === 0) return
    const payload = JSON.stringify(event)
    const webhookId = eventId(id, sequence)
    for (const { id: endpoint, active } of choosing) {
      const state = active ? 'pending' : 'held'
      const delivery = insertDelivery().run(
        webhookId,
        event.event,
        organizationId,
        endpoint,
        now,
        state,
        payload,
      )
      if (trace !== null) setTrace().run(trace, delivery.lastInsertRowid)
      if (active) insertJob().run(eventJob(Number(delivery.lastInsertRowid)), organizationId, endpoint, now)
    }
  }

  return {
    announcements(now) {
      const known = new Map<string, EndpointChoice[]>()
      return {
        now,
        add(event, trace) {
          const { organizationId } = event.data
          let endpoints = known.get(organizationId)
          if (endpoints === undefined) {
            endpoints = endpointsOf(organizationId)
            known.set(organizationId, endpoints)
          }
          if (endpoints.length > 0) announce(event, endpoints, trace, now)
        },
      }
    },
    recordAttempt(delivery, attempt, now) {
      insertAttempt().run(delivery, now, JSON.stringify(attempt))
    },
    setState(delivery, state) {
      updateState().run(state, delivery)
    },
    hold,
    disable(endpoint, reason) {
      disable().run(reason, endpoint)
      for (const select of selectLane) {
        for (const { id } of select().all(endpoint)) hold(subjectOf(id))
      }
    },
  }
}
