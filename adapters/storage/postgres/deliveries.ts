import {
  type EndpointEvent,
  endpointEventId,
  TEST_EVENT_TYPE,
  type WebhookEventType,
} from '../../../src/core/delivery/endpoint-health.ts'
import { eventId, type NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import { type OwnProviderEvent, providerEventId } from '../../../src/core/notification/provider-event.ts'
import {
  type MessageReceivedEvent,
  receivedEventId,
} from '../../../src/core/notification/received-message.ts'
import type { DeliveryAttempt, PostedTest } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import type { Runner, Transaction } from './connection.ts'
import { makingDue } from './due-jobs.ts'

const SELECT_ENDPOINTS = `
  SELECT id, organization, status, events FROM carillon.webhook_endpoints
  WHERE organization = ANY ($1::text[]) ORDER BY seq`

/**
 * Enabling or removing an endpoint waits until held deliveries are stored, and so includes them. Active endpoints are
 * not locked: the claim checks their jobs again.
 */
const LOCK_DISABLED = `
  SELECT id, status FROM carillon.webhook_endpoints WHERE id = ANY ($1::text[]) ORDER BY id FOR KEY SHARE`

/**
 * One delivery per event and endpoint, with a job unless the endpoint is disabled. A known event id is a duplicate for
 * its receiver.
 */
const INSERT = `
  WITH given AS MATERIALIZED (
    SELECT nextval('carillon.delivery_numbers') AS seq, d.* FROM unnest(
      $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::text[]
    ) WITH ORDINALITY AS d (event_id, endpoint, event_type, organization, active, trace, payload, number)
    ORDER BY d.number),
  stored AS (
    INSERT INTO carillon.deliveries
      (seq, created_at, event_id, endpoint, event_type, organization, state, trace, payload)
    SELECT seq, $1::bigint, event_id, endpoint, event_type, organization,
      CASE WHEN active THEN 'pending' ELSE 'held' END, trace, payload
    FROM given
    ON CONFLICT DO NOTHING RETURNING seq, event_id, endpoint, organization, state)
  INSERT INTO carillon.jobs (id, place, due_at, state, high, lane, organization, subject)
  SELECT 2 * seq + 1, 2 * seq + 1, $1::bigint, 0, false, endpoint, organization, event_id FROM stored
  WHERE state = 'pending'`

const INSERT_TEST = `
  INSERT INTO carillon.deliveries
    (seq, created_at, event_id, endpoint, event_type, organization, state, payload)
  VALUES (nextval('carillon.delivery_numbers'), $1, $2, $3, '${TEST_EVENT_TYPE}', $4, $5, $6)`

const INSERT_ATTEMPTS = `
  INSERT INTO carillon.delivery_attempts (at, event_id, endpoint, attempt)
  SELECT $1::bigint, a.event_id, a.endpoint, a.attempt
  FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS a (event_id, endpoint, attempt, number)
  ORDER BY a.number`

const UPDATE_STATES = `
  UPDATE carillon.deliveries AS d SET state = ended.state
  FROM unnest($1::text[], $2::text[], $3::text[]) AS ended (event_id, endpoint, state)
  WHERE d.event_id = ended.event_id AND d.endpoint = ended.endpoint`

const DISABLE = `
  UPDATE carillon.webhook_endpoints SET status = 'disabled', disabled_reason = $2
  WHERE id = $1 AND status = 'active'`

/** A step of an endpoint's unleased jobs. The conditions match the partial indexes. */
const HOLD_LANE = `
  WITH candidates AS (
    (SELECT id FROM carillon.jobs WHERE state = 0 AND lane = $1 LIMIT $2)
    UNION ALL (SELECT id FROM carillon.jobs WHERE state = 3 AND lane = $1 LIMIT $2)
    UNION ALL (SELECT id FROM carillon.jobs WHERE state = 1 AND lane = $1 LIMIT $2)
    LIMIT $2),
  chosen AS (
    SELECT j.id FROM carillon.jobs AS j JOIN candidates ON candidates.id = j.id
    WHERE j.state <> 2 ORDER BY j.id FOR UPDATE OF j),
  removed AS (
    DELETE FROM carillon.jobs AS j USING chosen WHERE j.id = chosen.id RETURNING j.subject)
  UPDATE carillon.deliveries AS d SET state = 'held' FROM removed
  WHERE d.event_id = removed.subject AND d.endpoint = $1`

/** Leased jobs of an endpoint that was disabled meanwhile. */
const HOLD_JOBS = `
  WITH removed AS (
    DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[]) AND token = $2 AND state = 2 RETURNING subject, lane)
  UPDATE carillon.deliveries AS d SET state = 'held' FROM removed
  WHERE d.event_id = removed.subject AND d.endpoint = removed.lane`

/** Leased jobs of an endpoint that was removed while its events were published. */
const REMOVE_JOBS = `
  WITH removed AS (
    DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[]) AND token = $2 AND state = 2 RETURNING subject, lane)
  DELETE FROM carillon.deliveries AS d USING removed
  WHERE d.event_id = removed.subject AND d.endpoint = removed.lane`

/** Jobs that one commit holds. */
const HELD_AT_ONCE = 1_000

/** Shared by the deliveries of one event. */
export interface PublishedEvent {
  readonly eventId: string
  readonly eventType: WebhookEventType
  readonly organizationId: string
  /** The endpoint that the event concerns. It gets no delivery. */
  readonly about?: string
  readonly trace: string | null
  readonly event: NotificationEvent | EndpointEvent | MessageReceivedEvent | OwnProviderEvent
}

/** Identifies a delivery. */
export interface DeliveryRef {
  readonly eventId: string
  readonly endpoint: string
}

interface EndpointChoice {
  readonly id: string
  readonly organization: string
  readonly status: string
  readonly events: string
}

/** @param trace of the event's notification */
export function published(event: NotificationEvent, trace: string | null): PublishedEvent {
  const { id, sequence, organizationId } = event.data
  return { eventId: eventId(id, sequence), eventType: event.event, organizationId, trace, event }
}

export function publishedByEndpoint(event: EndpointEvent): PublishedEvent {
  const { id: about, organizationId } = event.data
  const eventId = endpointEventId(event)
  return { eventId, eventType: event.event, organizationId, about, trace: null, event }
}

export function publishedReceived(event: MessageReceivedEvent): PublishedEvent {
  const { organizationId } = event.data
  return { eventId: receivedEventId(event), eventType: event.event, organizationId, trace: null, event }
}

export function publishedByProvider(event: OwnProviderEvent): PublishedEvent {
  const { organizationId } = event.data
  return { eventId: providerEventId(event), eventType: event.event, organizationId, trace: null, event }
}

/** Stores the deliveries of events, with their jobs. */
export async function publish(tx: Transaction, events: readonly PublishedEvent[]): Promise<void> {
  if (events.length === 0) return
  // Endpoints of operators get the events of every organization.
  const owners = [...new Set([ALL_ORGANIZATIONS, ...events.map(({ organizationId }) => organizationId)])]
  const endpoints = await tx.rows<EndpointChoice>(SELECT_ENDPOINTS, [owners])
  if (endpoints.length === 0) return
  const choices = endpoints.map((endpoint) => ({
    ...endpoint,
    chosen: new Set(JSON.parse(endpoint.events) as WebhookEventType[]),
  }))
  const given = events.flatMap((one) => {
    const choosing = choices.filter(
      ({ id, organization, chosen }) =>
        (organization === one.organizationId || organization === ALL_ORGANIZATIONS) &&
        id !== one.about &&
        chosen.has(one.eventType),
    )
    if (choosing.length === 0) return []
    const payload = JSON.stringify(one.event)
    return choosing.map((endpoint) => ({ ...one, payload, endpoint }))
  })
  if (given.length === 0) return
  const statusOf = await lockDisabled(
    tx,
    given.map(({ endpoint }) => endpoint),
  )
  const stored = given.filter(({ endpoint }) => statusOf.has(endpoint.id))
  await makingDue(tx, INSERT, [
    tx.now,
    stored.map(({ eventId }) => eventId),
    stored.map(({ endpoint }) => endpoint.id),
    stored.map(({ eventType }) => eventType),
    stored.map(({ organizationId }) => organizationId),
    stored.map(({ endpoint }) => statusOf.get(endpoint.id) === 'active'),
    stored.map(({ trace }) => trace),
    stored.map(({ payload }) => payload),
  ])
}

/** Status of endpoints by id, without removed ones. */
async function lockDisabled(
  tx: Transaction,
  endpoints: readonly EndpointChoice[],
): Promise<Map<string, string>> {
  const statusOf = new Map(endpoints.map(({ id, status }) => [id, status]))
  const disabled = [...statusOf].flatMap(([id, status]) => (status === 'active' ? [] : [id]))
  if (disabled.length === 0) return statusOf
  const locked = await tx.rows<{ id: string; status: string }>(LOCK_DISABLED, [disabled])
  for (const id of disabled) statusOf.delete(id)
  for (const { id, status } of locked) statusOf.set(id, status)
  return statusOf
}

/** Adds entries to the delivery log. */
export async function recordAttempts(
  tx: Transaction,
  attempts: readonly (DeliveryRef & { readonly attempt: DeliveryAttempt })[],
): Promise<void> {
  if (attempts.length === 0) return
  await tx.rows(INSERT_ATTEMPTS, [
    tx.now,
    attempts.map(({ eventId }) => eventId),
    attempts.map(({ endpoint }) => endpoint),
    attempts.map(({ attempt }) => JSON.stringify(attempt)),
  ])
}

/** Stores a delivery without a job. */
export async function recordTest(
  tx: Transaction,
  endpoint: string,
  { eventId, organizationId, payload, attempt }: PostedTest,
): Promise<void> {
  const state = attempt.succeeded ? 'delivered' : 'failed'
  await tx.rows(INSERT_TEST, [tx.now, eventId, endpoint, organizationId, state, payload])
  await recordAttempts(tx, [{ eventId, endpoint, attempt }])
}

export async function setStates(
  tx: Runner,
  ended: readonly (DeliveryRef & { readonly state: 'delivered' | 'failed' })[],
): Promise<void> {
  if (ended.length === 0) return
  await tx.rows(UPDATE_STATES, [
    ended.map(({ eventId }) => eventId),
    ended.map(({ endpoint }) => endpoint),
    ended.map(({ state }) => state),
  ])
}

/** Keeps the deliveries of leased jobs and removes the jobs. */
export async function holdJobs(runner: Runner, jobs: readonly number[], token: number): Promise<void> {
  await runner.rows(HOLD_JOBS, [jobs, token])
}

/** Removes leased jobs with their deliveries. */
export async function removeJobs(runner: Runner, jobs: readonly number[], token: number): Promise<void> {
  await runner.rows(REMOVE_JOBS, [jobs, token])
}

/** Removes a step of the jobs of a disabled endpoint and keeps the deliveries. */
export async function holdWaiting(runner: Runner, endpoint: string): Promise<void> {
  await runner.rows(HOLD_LANE, [endpoint, HELD_AT_ONCE])
}

/** Disables an endpoint and holds its jobs. Later claims hold the rest. */
export async function disableEndpoint(
  tx: Runner,
  endpoint: string,
  reason: 'gone' | 'failing' | 'manual',
): Promise<void> {
  await tx.rows(DISABLE, [endpoint, reason])
  await holdWaiting(tx, endpoint)
}
