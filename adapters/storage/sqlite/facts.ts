import { eventPayload, type NotificationEvent } from '../../../src/domain/event-payload.ts'
import type { Fact } from '../../../src/domain/facts.ts'
import { type FactState, recordFacts } from '../../../src/domain/record-facts.ts'
import { initialFold } from '../../../src/domain/status.ts'
import { suppressedAddress } from '../../../src/domain/suppression.ts'
import { acceptedStatus } from '../rows/notification.ts'
import type { Connection } from './connection.ts'
import type { Announcements } from './deliveries.ts'
import type { NotificationRow } from './rows.ts'
import { INSERT_SUPPRESSION } from './suppressions.ts'

/** The columns of a notification that facts need: never its content. */
export const FACT_COLUMNS: string =
  'n.seq, n.id, n.organization, n.channel, n.recipient, n.created_at, n.send_at, n.status, n.sequence, ' +
  'n.announced, n.fold, n.provider, n.provider_message_id, n.error, n.trace'

const INSERT_EVENT = `
  INSERT INTO carillon_events (notification, sequence, organization, at, status, fact) VALUES (?, ?, ?, ?, ?, ?)`

const UPDATE_NOTIFICATION = `
  UPDATE carillon_notifications
  SET status = ?, sequence = ?, announced = ?, fold = ?, provider = ?, provider_message_id = ?, error = ?
  WHERE seq = ?`

const INSERT_HANDOVER = `
  INSERT OR IGNORE INTO carillon_handovers (provider, message_id, notification) VALUES (?, ?, ?)`

export type AddFacts = (
  row: NotificationRow,
  facts: readonly Fact[],
  origin: 'engine' | 'receipt',
  announcements: Announcements,
) => NotificationEvent[]

/**
 * Adds facts to a notification: status, history, hand-overs, and what is announced.
 * Changes `row` along with what is stored, so that more facts can follow in the same transaction.
 */
export function createAddFacts(connection: Connection): AddFacts {
  const insertEvent = connection.statement(INSERT_EVENT)
  const updateNotification = connection.statement(UPDATE_NOTIFICATION)
  const insertHandover = connection.statement(INSERT_HANDOVER)
  const insertSuppression = connection.statement(INSERT_SUPPRESSION)

  /** What a fact leaves behind beside its event. */
  function keepEffects(
    { seq, organization, channel, recipient }: NotificationRow,
    fact: Fact,
    now: number,
  ): void {
    const { type, suppress, provider, providerMessageId } = fact
    if (suppress !== undefined) {
      const address = suppressedAddress(channel, recipient)
      insertSuppression().run(organization, channel, address, suppress, provider ?? null, now)
    }
    if (type === 'sent' && providerMessageId !== undefined) {
      insertHandover().run(provider ?? '', providerMessageId, seq)
    }
  }

  return function addFacts(row, facts, origin, announcements) {
    if (facts.length === 0) return []
    const { seq, id, organization, channel, recipient } = row
    const { state, events } = recordFacts(stateOf(row), facts, origin)
    const announced: NotificationEvent[] = []
    for (const { fact, sequence, status, announce } of events) {
      insertEvent().run(seq, sequence, organization, announcements.now, status, JSON.stringify(fact))
      keepEffects(row, fact, announcements.now)
      if (announce === null) continue
      const about = { id, organizationId: organization, channel, to: recipient }
      const event = eventPayload(about, { fact, sequence, status, announce }, announcements.now)
      announced.push(event)
      announcements.add(event, row.trace)
    }
    row.status = state.status
    row.sequence = state.sequence
    row.announced = state.announced
    row.fold = JSON.stringify(state.fold)
    row.provider = state.provider
    row.provider_message_id = state.providerMessageId
    row.error = state.error === null ? null : JSON.stringify(state.error)
    updateNotification().run(
      row.status,
      row.sequence,
      row.announced,
      row.fold,
      row.provider,
      row.provider_message_id,
      row.error,
      seq,
    )
    return announced
  }
}

function stateOf(row: NotificationRow): FactState {
  const accepted = acceptedStatus(row)
  return {
    status: row.status ?? accepted,
    fold: row.fold === null ? initialFold(accepted) : JSON.parse(row.fold),
    sequence: row.sequence,
    announced: row.announced,
    provider: row.provider,
    providerMessageId: row.provider_message_id,
    error: row.error === null ? null : JSON.parse(row.error),
  }
}
