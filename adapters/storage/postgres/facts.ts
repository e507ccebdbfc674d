import { eventPayload, type NotificationEvent } from '../../../src/core/notification/event-payload.ts'
import type { Fact } from '../../../src/core/notification/facts.ts'
import { otherAddress, recordFacts } from '../../../src/core/notification/record-facts.ts'
import type { FollowingWrite } from '../../../src/core/ports/storage/records.ts'
import { toLabels } from '../rows/labels.ts'
import type { Transaction } from './connection.ts'
import { type PublishedEvent, publish, published } from './deliveries.ts'
import { followWrites } from './follow.ts'
import type { Standing } from './states.ts'
import { once, unlessEmpty } from './values.ts'

/** One statement for events, hand-overs and the current states. */
const WRITE = `
  SELECT carillon.write_facts_1($1::bigint, $2::text[], $3::bigint[], $4::integer[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::boolean[], $14::text[], $15::integer[],
    $16::integer[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[])::text`

const SELECT_COPIES =
  'SELECT notification AS id, address FROM carillon.copies WHERE notification = ANY ($1::text[])'

interface RecordedRow {
  readonly standing: Standing
  readonly sequence: number
  readonly status: string
  readonly fact: string
}

/** A notification with reports about it. */
interface Reported {
  readonly id: string
  readonly to: string
  readonly facts: readonly Fact[]
}

/** Reads what `reportedTo` needs: the copies of notifications, by id, if a report is about another address. */
export async function copiesFor(
  tx: Transaction,
  reported: readonly Reported[],
): Promise<(id: string) => readonly string[]> {
  const some = reported.filter(({ to, facts }) => facts.some((fact) => otherAddress(fact, to) !== null))
  if (some.length === 0) return () => []
  const rows = await tx.rows<{ id: string; address: string }>(SELECT_COPIES, [some.map(({ id }) => id)])
  return (id) => rows.flatMap((row) => (row.id === id ? row.address : []))
}

/** Collects the facts that one transaction adds to notifications it has locked, and writes them as sets. */
export interface Ledger {
  /**
   * Adds facts: status, history, hand-overs and published events. Updates `standing`, so that more facts can follow.
   *
   * @param to default: the notification's address. See `reportedTo`
   * @throws TypeError if a fact cannot be stored
   */
  add(
    standing: Standing,
    facts: readonly Fact[],
    origin: 'engine' | 'receipt',
    to?: string,
  ): NotificationEvent[]
  /** Adds writes of a consent, in order with those that follow from facts. */
  follow(writes: readonly FollowingWrite[]): void
  publish(event: PublishedEvent): void
  write(): Promise<void>
}

/** @param hasEndpoints false: no webhook endpoint receives events */
export function createLedger(tx: Transaction, hasEndpoints = true): Ledger {
  const recorded: RecordedRow[] = []
  const handovers: (readonly [provider: string, messageId: string, notification: string])[] = []
  const changed = new Set<Standing>()
  const unpublished: PublishedEvent[] = []
  const following: FollowingWrite[] = []

  function noteHandover(id: string, { type, provider, providerMessageId }: Fact): void {
    if (type === 'sent' && providerMessageId !== undefined)
      handovers.push([provider ?? '', providerMessageId, id])
  }

  function add(
    standing: Standing,
    facts: readonly Fact[],
    origin: 'engine' | 'receipt',
    to = standing.row.recipient,
  ): NotificationEvent[] {
    if (facts.length === 0) return []
    const { row } = standing
    const { state, events } = recordFacts(standing.state, facts, origin, to)
    const own: NotificationEvent[] = []
    const { id, organization: organizationId, channel } = row
    const about = { id, organizationId, channel, to, ...toLabels(row) }
    for (const { fact, sequence, status, eventType } of events) {
      recorded.push({ standing, sequence, status, fact: JSON.stringify(fact) })
      noteHandover(row.id, fact)
      if (eventType === null) continue
      const event = eventPayload(about, { fact, sequence, status, eventType }, tx.now)
      own.push(event)
      if (hasEndpoints) unpublished.push(published(event, row.trace))
    }
    // Those of an erased notification are stored without the address that follows.
    following.push(...tx.follow(about, facts))
    standing.state = state
    changed.add(standing)
    return own
  }

  async function writeFacts(): Promise<void> {
    if (changed.size === 0) return
    const standings = [...changed].sort(byId)
    recorded.sort((a, b) => byId(a.standing, b.standing))
    // With one fact per notification, the events share ids and numbers with the states, so they are sent once.
    const oneEach = recorded.length === standings.length && recorded.every(isAt(standings))
    await tx.rows(WRITE, [
      tx.now,
      oneEach ? null : recorded.map(({ standing }) => standing.row.id),
      oneEach ? null : recorded.map(({ standing }) => standing.row.seq),
      once(recorded.map(({ sequence }) => sequence)),
      once(recorded.map(({ standing }) => standing.row.organization)),
      once(recorded.map(({ status }) => status)),
      recorded.map(({ fact }) => fact),
      handovers.map(([provider]) => provider),
      handovers.map(([, messageId]) => messageId),
      handovers.map(([, , notification]) => notification),
      standings.map(({ row }) => row.id),
      standings.map(({ row }) => row.seq),
      once(standings.map(({ stored }) => stored)),
      once(standings.map(({ state }) => state.status)),
      once(standings.map(({ state }) => state.sequence)),
      once(standings.map(({ state }) => state.published)),
      standings.map(({ state }) => JSON.stringify(state.fold)),
      unlessEmpty(standings.map(({ state }) => state.provider)),
      unlessEmpty(standings.map(({ state }) => state.providerMessageId)),
      unlessEmpty(standings.map(({ state }) => (state.error === null ? null : JSON.stringify(state.error)))),
      once(standings.map(({ row }) => row.organization)),
      once(standings.map(({ row }) => row.created_at)),
    ])
  }

  return {
    add,
    follow(writes) {
      following.push(...writes)
    },
    publish(event) {
      unpublished.push(event)
    },
    async write() {
      await writeFacts()
      await followWrites(tx, following)
      await publish(tx, unpublished)
    },
  }
}

const byId = (a: Standing, b: Standing): number => (a.row.id < b.row.id ? -1 : a.row.id > b.row.id ? 1 : 0)

const isAt =
  (standings: readonly Standing[]) =>
  ({ standing }: RecordedRow, index: number): boolean =>
    standings[index] === standing
