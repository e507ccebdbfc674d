import { eventPayload, type NotificationEvent } from '../../../src/domain/event-payload.ts'
import type { Fact } from '../../../src/domain/facts.ts'
import { recordFacts } from '../../../src/domain/record-facts.ts'
import { suppressedAddress } from '../../../src/domain/suppression.ts'
import type { Transaction } from './connection.ts'
import { type Announced, announce, announcedOf } from './deliveries.ts'
import type { LockedRow, Standing } from './states.ts'
import { addSuppressions, type NewSuppression } from './suppressions.ts'

const DELETE_JOBS = 'DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[])'

/** Everything in one statement: events, hand-overs, where the notifications stand now, and the end of jobs. */
const WRITE = `
  SELECT carillon.write_facts_1($1::bigint, $2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::integer[], $14::integer[], $15::text[], $16::text[],
    $17::text[], $18::text[], $19::text[], $20::bigint[], $21::bigint[], $22::bigint[])::text`

interface RecordedRow {
  readonly standing: Standing
  readonly sequence: number
  readonly status: string
  readonly fact: string
}

/** Collects what one transaction adds to the histories of locked notifications, and writes it as sets. */
export interface Ledger {
  /**
   * Adds facts: status, history, hand-overs, and what is announced. Changes `standing`, so that more can follow.
   *
   * @throws TypeError when a fact cannot be stored
   */
  add(standing: Standing, facts: readonly Fact[], origin: 'engine' | 'receipt'): NotificationEvent[]
  /** @param endedJobs jobs that end with it */
  write(endedJobs?: readonly number[]): Promise<void>
}

/** @param hasEndpoints false: nobody has a webhook endpoint that anything could be announced to */
export function createLedger(tx: Transaction, hasEndpoints = true): Ledger {
  const recorded: RecordedRow[] = []
  const handovers: (readonly [provider: string, messageId: string, notification: string])[] = []
  const changed = new Set<Standing>()
  const announced: Announced[] = []
  const suppressed: NewSuppression[] = []

  function noteConsequences(row: LockedRow, fact: Fact): void {
    const { suppress: reason, type, provider, providerMessageId } = fact
    if (reason !== undefined) {
      const { organization: organizationId, channel } = row
      const address = suppressedAddress(channel, row.recipient)
      suppressed.push({ organizationId, channel, address, reason, source: provider ?? null })
    }
    if (type === 'sent' && providerMessageId !== undefined) {
      handovers.push([provider ?? '', providerMessageId, row.id])
    }
  }

  function add(
    standing: Standing,
    facts: readonly Fact[],
    origin: 'engine' | 'receipt',
  ): NotificationEvent[] {
    if (facts.length === 0) return []
    const { row } = standing
    const { state, events } = recordFacts(standing.state, facts, origin)
    const own: NotificationEvent[] = []
    const about = { id: row.id, organizationId: row.organization, channel: row.channel, to: row.recipient }
    for (const { fact, sequence, status, announce } of events) {
      recorded.push({ standing, sequence, status, fact: JSON.stringify(fact) })
      noteConsequences(row, fact)
      if (announce === null) continue
      const event = eventPayload(about, { fact, sequence, status, announce }, tx.now)
      own.push(event)
      announced.push(announcedOf(event, row.trace))
    }
    standing.state = state
    changed.add(standing)
    return own
  }

  async function write(endedJobs: readonly number[] = []): Promise<void> {
    if (changed.size === 0) {
      if (endedJobs.length > 0) await tx.rows(DELETE_JOBS, [endedJobs])
      return
    }
    const standings = [...changed].sort((a, b) => (a.row.id < b.row.id ? -1 : 1))
    await tx.rows(WRITE, [
      tx.now,
      recorded.map(({ standing }) => standing.row.id),
      recorded.map(({ sequence }) => sequence),
      recorded.map(({ standing }) => standing.row.seq),
      recorded.map(({ standing }) => standing.row.organization),
      recorded.map(({ status }) => status),
      recorded.map(({ fact }) => fact),
      handovers.map(([provider]) => provider),
      handovers.map(([, messageId]) => messageId),
      handovers.map(([, , notification]) => notification),
      standings.map(({ row }) => row.id),
      standings.map(({ state }) => state.status),
      standings.map(({ state }) => state.sequence),
      standings.map(({ state }) => state.announced),
      standings.map(({ state }) => JSON.stringify(state.fold)),
      standings.map(({ state }) => state.provider),
      standings.map(({ state }) => state.providerMessageId),
      standings.map(({ state }) => (state.error === null ? null : JSON.stringify(state.error))),
      standings.map(({ row }) => row.organization),
      standings.map(({ row }) => row.created_at),
      standings.map(({ row }) => row.seq),
      endedJobs,
    ])
    await addSuppressions(tx, suppressed)
    if (hasEndpoints) await announce(tx, announced)
  }

  return { add, write }
}
