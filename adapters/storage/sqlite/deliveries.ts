import {
  type EndpointEvent,
  TEST_EVENT_TYPE,
  type WebhookEventType,
} from '../../../src/core/delivery/endpoint-health.ts'
import { eventId, type NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import type { OwnProviderEvent } from '../../../src/core/notification/provider-event.ts'
import type { MessageReceivedEvent } from '../../../src/core/notification/received-message.ts'
import type { DeliveryAttempt, PostedTest } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import type { Connection } from './connection.ts'
import { eventJob, subjectOf } from './jobs.ts'

/** Those of operators get the events of every organization. */
const SELECT_ENDPOINTS = `
  SELECT id, status, events FROM carillon_webhook_endpoints WHERE organization IN (?, '${ALL_ORGANIZATIONS}')`

const INSERT_DELIVERY = `
  INSERT INTO carillon_deliveries (event_id, event_type, organization, endpoint, created_at, state, payload)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

/** Separate from the insert, so that nothing is bound without tracing. */
const SET_TRACE = 'UPDATE carillon_deliveries SET trace = ? WHERE id = ?'

const INSERT_JOB = `
  INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (?, ?, ?, 0, 0, ?)`

const INSERT_ATTEMPT = 'INSERT INTO carillon_delivery_attempts (delivery, at, attempt) VALUES (?, ?, ?)'

const UPDATE_STATE = 'UPDATE carillon_deliveries SET state = ? WHERE id = ?'

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

/** Unleased jobs of an endpoint; one statement per partial index. */
const SELECT_LANE = ['state = 0', 'state = 3', 'state = 1 AND id % 2 = 1'].map(
  (condition) => `SELECT id FROM carillon_jobs WHERE ${condition} AND lane = ? LIMIT ?`,
)

/** Jobs that one commit holds. */
const HELD_AT_ONCE = 1_000

const DISABLE = `
  UPDATE carillon_webhook_endpoints SET status = 'disabled', disabled_reason = ? WHERE id = ? AND status = 'active'`

/** Publishes the events of one transaction. Reads each organization's endpoints once. */
export interface Publisher {
  readonly now: number
  /** @param trace of the event's notification */
  add(event: NotificationEvent, trace: string | null): void
}

/** Shared by the deliveries of one event. */
interface EventContent {
  readonly eventId: string
  readonly eventType: WebhookEventType
  readonly organizationId: string
  readonly payload: string
  readonly trace: string | null
}

interface EndpointChoice {
  readonly id: string
  readonly active: boolean
  readonly events: ReadonlySet<WebhookEventType>
}

export interface Deliveries {
  /** Creates the publisher of one transaction. */
  publisher(now: number): Publisher
  recordAttempt(delivery: number, attempt: DeliveryAttempt, now: number): void
  recordTest(endpoint: string, test: PostedTest, now: number): void
  fail(delivery: number): void
  /** Keeps a delivery and removes its job. */
  hold(delivery: number): void
  /** Removes a step of the jobs of a disabled endpoint and keeps the deliveries. */
  holdWaiting(endpoint: string): void
  /** Disables an endpoint and holds its jobs. Later claims hold the rest. */
  disable(endpoint: string, reason: 'gone' | 'failing' | 'manual'): void
  /** Publishes an event about no notification to the endpoints that chose it, without the one it is about. */
  publishOther(
    event: EndpointEvent | MessageReceivedEvent | OwnProviderEvent,
    eventId: string,
    now: number,
  ): void
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
        events: new Set(JSON.parse(events) as WebhookEventType[]),
      }))
  }

  function hold(delivery: number): void {
    updateState().run('held', delivery)
    deleteJob().run(eventJob(delivery))
  }

  /** One delivery per endpoint, with a job unless the endpoint is disabled. */
  function store(about: EventContent, endpoints: readonly EndpointChoice[], now: number): void {
    const { eventId, eventType, organizationId, payload, trace } = about
    for (const { id: endpoint, active } of endpoints) {
      const state = active ? 'pending' : 'held'
      const delivery = insertDelivery().insert(
        eventId,
        eventType,
        organizationId,
        endpoint,
        now,
        state,
        payload,
      )
      if (trace !== null) setTrace().run(trace, delivery)
      if (active) insertJob().run(eventJob(delivery), organizationId, endpoint, now)
    }
  }

  function holdWaiting(endpoint: string): void {
    let left = HELD_AT_ONCE
    for (const select of selectLane) {
      const jobs = select().all(endpoint, left)
      for (const { id } of jobs) hold(subjectOf(id))
      left -= jobs.length
    }
  }

  function recordAttempt(delivery: number, attempt: DeliveryAttempt, now: number): void {
    insertAttempt().run(delivery, now, JSON.stringify(attempt))
  }

  return {
    publisher(now) {
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
          const choosing = endpoints.filter(({ events }) => events.has(event.event))
          if (choosing.length === 0) return
          const { id, sequence } = event.data
          const payload = JSON.stringify(event)
          store(
            { eventId: eventId(id, sequence), eventType: event.event, organizationId, payload, trace },
            choosing,
            now,
          )
        },
      }
    },
    publishOther(event, eventId, now) {
      const { id, organizationId } = event.data
      const others = endpointsOf(organizationId).filter(
        (other) => other.id !== id && other.events.has(event.event),
      )
      const payload = JSON.stringify(event)
      const about = { eventId, eventType: event.event, payload, trace: null }
      store({ ...about, organizationId }, others, now)
    },
    recordAttempt,
    recordTest(endpoint, { eventId, organizationId, payload, attempt }, now) {
      const state = attempt.succeeded ? 'pending' : 'failed'
      const delivery = insertDelivery().insert(
        eventId,
        TEST_EVENT_TYPE,
        organizationId,
        endpoint,
        now,
        state,
        payload,
      )
      recordAttempt(delivery, attempt, now)
    },
    fail(delivery) {
      updateState().run('failed', delivery)
    },
    hold,
    holdWaiting,
    disable(endpoint, reason) {
      disable().run(reason, endpoint)
      holdWaiting(endpoint)
    },
  }
}
