import {
  decideEndpoint,
  type EndpointEvent,
  endpointEvent,
  endpointEventId,
} from '../../../src/core/delivery/endpoint-health.ts'
import { providerEventId } from '../../../src/core/notification/provider-event.ts'
import type { SettleAnswer, Settlement } from '../../../src/core/ports/storage/settle.ts'
import type { Connection } from './connection.ts'
import type { Deliveries, Publisher } from './deliveries.ts'
import { dataError } from './errors.ts'
import {
  type AddFacts,
  type AddReport,
  FACT_COLUMNS,
  type NotificationRow,
  WITH_NEWEST_EVENT,
} from './facts.ts'
import { isEventJob, READY, SET_DELAYED, subjectOf, WAITING } from './jobs.ts'
import type { UnmatchedReceipts } from './receipts.ts'
import { createSetContent } from './set-content.ts'

const SELECT_NOTIFICATION = `
  SELECT ${FACT_COLUMNS}
  FROM carillon_jobs AS j JOIN carillon_notifications AS n ON n.seq = ? ${WITH_NEWEST_EVENT}
  WHERE j.id = ? AND j.state = 2 AND j.token = ?`

/** The lane of a delivery's job is its endpoint. */
const SELECT_ENDPOINT = 'SELECT lane FROM carillon_jobs WHERE id = ? AND state = 2 AND token = ?'

const SELECT_HEALTH = `
  SELECT organization, url, status, failing_since, failing_published, event_sequence
  FROM carillon_webhook_endpoints WHERE id = ?`

const UPDATE_HEALTH = `
  UPDATE carillon_webhook_endpoints SET failing_since = ?, failing_published = ?, event_sequence = ? WHERE id = ?`

const DELETE_JOB = 'DELETE FROM carillon_jobs WHERE id = ?'

/** A settled job no longer must run alone. */
const DUE_AGAIN = `
  UPDATE carillon_jobs
  SET state = ?, due_at = ?, outages = outages + ?, recovered = 0, token = NULL, lease_until = NULL, provider = NULL,
    delayed_address = NULL, delayed_person = NULL
  WHERE id = ?`

/** Exception: a recovered job that never reached a provider keeps state 3 if it is due at once. */
const DUE_AGAIN_UNASKED = `
  UPDATE carillon_jobs
  SET state = coalesce(nullif(?, 0), 3 * recovered), due_at = ?, outages = outages + ?,
    token = NULL, lease_until = NULL, provider = NULL, delayed_address = NULL, delayed_person = NULL
  WHERE id = ?`

interface HealthRow {
  readonly organization: string
  readonly url: string
  readonly status: 'active' | 'disabled'
  readonly failing_since: number | null
  readonly failing_published: number
  readonly event_sequence: number
}

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>
type NotificationSettlement = Extract<Settlement, { readonly kind: 'notification' }>
/** Endpoints read by a set of settlements. A change removes the entry. */
type EndpointHealths = Map<string, HealthRow | undefined>
type Settle = (settlements: readonly Settlement[]) => Promise<SettleAnswer[]>

const failed = (cause: unknown): SettleAnswer => ({ kind: 'failed', error: dataError(cause) })
const STALE: SettleAnswer = { kind: 'stale' }

/** Settles attempts of leased jobs, one commit per set. */
export function createSettle(
  connection: Connection,
  parts: {
    readonly addFacts: AddFacts
    readonly addReport: AddReport
    readonly deliveries: Deliveries
    readonly unmatched: UnmatchedReceipts
  },
): Settle {
  const { addFacts, addReport, deliveries, unmatched } = parts
  const selectNotification = connection.statement<NotificationRow>(SELECT_NOTIFICATION)
  const selectEndpoint = connection.statement<{ lane: string }>(SELECT_ENDPOINT)
  const selectHealth = connection.statement<HealthRow>(SELECT_HEALTH)
  const updateHealth = connection.statement(UPDATE_HEALTH)
  const setContent = createSetContent(connection)
  const deleteJob = connection.statement(DELETE_JOB)
  const setDelayed = connection.statement(SET_DELAYED)
  const dueAgain = connection.statement(DUE_AGAIN)
  const dueAgainNotSent = connection.statement(DUE_AGAIN_UNASKED)

  function next(job: number, { next }: Settlement, now: number): void {
    if (next.kind === 'end') {
      deleteJob().run(job)
      return
    }
    const outage = next.outage === true ? 1 : 0
    const again = next.notSent === true ? dueAgainNotSent() : dueAgain()
    if (next.delayMs <= 0) again.run(READY, now, outage, job)
    else again.run(WAITING, Math.ceil(now + next.delayMs), outage, job)
    const { delayedFor } = next
    if (delayedFor !== undefined) setDelayed().run(delayedFor.address, delayedFor.recipient, job)
  }

  function settleNotification(
    job: number,
    settlement: NotificationSettlement,
    publisher: Publisher,
    mayMatch: boolean,
  ): SettleAnswer {
    const row = selectNotification().get(subjectOf(job), job, settlement.token)
    if (row === undefined) return STALE
    const { facts } = settlement
    const events = addFacts(row, facts, 'engine', publisher)
    if (mayMatch) {
      for (const fact of unmatched.take(row.organization, facts))
        events.push(...addReport(row, fact, publisher))
    }
    setContent(row.seq, settlement.content)
    const { providerEvent: told } = settlement
    if (told !== undefined) deliveries.publishOther(told, providerEventId(told), publisher.now)
    next(job, settlement, publisher.now)
    return { kind: 'settled', events }
  }

  function healthOf(id: string, healths: EndpointHealths): HealthRow | undefined {
    if (!healths.has(id)) healths.set(id, selectHealth().get(id))
    return healths.get(id)
  }

  function decide(
    id: string,
    settlement: EventSettlement,
    healths: EndpointHealths,
    now: number,
  ): EndpointEvent | null {
    const row = healthOf(id, healths)
    if (row === undefined || row.status === 'disabled') return null
    const before = {
      failingSince: row.failing_since,
      failingPublished: row.failing_published === 1,
      sequence: row.event_sequence,
    }
    const decision = decideEndpoint(before, settlement, now, row.url)
    const { failingSince, failingPublished, sequence } = decision.health
    if (
      failingSince !== before.failingSince ||
      failingPublished !== before.failingPublished ||
      sequence !== before.sequence
    ) {
      healths.delete(id)
      updateHealth().run(failingSince, failingPublished ? 1 : 0, sequence, id)
    }
    if (decision.disable !== null) deliveries.disable(id, decision.disable)
    const event = endpointEvent({ id, organizationId: row.organization }, decision, now)
    if (event !== null) deliveries.publishOther(event, endpointEventId(event), now)
    return event
  }

  function settleDelivery(
    job: number,
    settlement: EventSettlement,
    healths: EndpointHealths,
    now: number,
  ): SettleAnswer {
    const held = selectEndpoint().get(job, settlement.token)
    if (held === undefined) return STALE
    const delivery = subjectOf(job)
    if (settlement.attempt !== undefined) deliveries.recordAttempt(delivery, settlement.attempt, now)
    if (settlement.next.kind === 'end' && settlement.ended !== 'delivered') deliveries.fail(delivery)
    next(job, settlement, now)
    const event = decide(held.lane, settlement, healths, now)
    return { kind: 'settled', events: [], ...(event === null ? {} : { endpointEvents: [event] }) }
  }

  return function settle(settlements) {
    return connection.writeSet(settlements, failed, () => {
      const publisher = deliveries.publisher(connection.now())
      const mayMatch = unmatched.any()
      const healths: EndpointHealths = new Map()
      return function settleOne(settlement) {
        const job = Number(settlement.jobId)
        if (isEventJob(job) !== (settlement.kind === 'event')) return STALE
        return settlement.kind === 'event'
          ? settleDelivery(job, settlement, healths, publisher.now)
          : settleNotification(job, settlement, publisher, mayMatch)
      }
    })
  }
}
