import type { Fact } from '../../../src/domain/facts.ts'
import type { SettleAnswer, Settlement } from '../../../src/ports/storage/settle.ts'
import type { Connection, Transaction } from './connection.ts'
import { type DeliveryRef, disableEndpoint, recordAttempts, setStates } from './deliveries.ts'
import { type Judged, judgeEndpoints } from './endpoint-health.ts'
import { dataError } from './errors.ts'
import { createLedger, type Ledger } from './facts.ts'
import { jobNumber } from './leases.ts'
import { FACT_COLUMNS, LOCK, type LockedRow, readStates, type Standing } from './states.ts'
import { handedOver, lockMessages, takeUnmatched } from './unmatched.ts'

/** Jobs first, then their notifications, each in one order: whoever locks both does so. */
const LOCK_JOBS = `
  SELECT j.id AS job, j.token, j.subject, j.lane FROM carillon.jobs AS j
  WHERE j.id = ANY ($1::bigint[]) AND j.state = 2 ORDER BY j.id FOR UPDATE`

const LOCK_NOTIFICATIONS = `
  WITH leased AS MATERIALIZED (${LOCK_JOBS})
  SELECT leased.job, leased.token, ${FACT_COLUMNS}
  FROM leased JOIN carillon.notifications AS n ON n.id = leased.subject ORDER BY n.id ${LOCK}`

const DELETE_JOBS = 'DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[])'

/** Settled, a recovered job no longer has to run alone. */
const DUE_AGAIN = `
  UPDATE carillon.jobs AS j
  SET state = again.state, due_at = again.due_at, outages = j.outages + again.outage, recovered = false,
    token = NULL, lease_until = NULL, provider = NULL
  FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::integer[]) AS again (id, state, due_at, outage)
  WHERE j.id = again.id`

const READY = 0
const WAITING = 1

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>
type NotificationSettlement = Extract<Settlement, { readonly kind: 'notification' }>

interface LockedJob {
  readonly job: number
  readonly token: number
  readonly subject: string
  readonly lane: string
}

const failed = (cause: unknown): SettleAnswer => ({ kind: 'failed', error: dataError(cause) })
const STALE: SettleAnswer = { kind: 'stale' }

/** Ends leased jobs' attempts, each set in one commit. */
export function createSettle(
  connection: Connection,
): (settlements: readonly Settlement[]) => Promise<SettleAnswer[]> {
  return async function settle(settlements) {
    if (settlements.length === 0) return []
    return connection.set(settlements, failed, settleSet)
  }
}

async function settleSet(tx: Transaction, settlements: readonly Settlement[]): Promise<SettleAnswer[]> {
  const ledger = createLedger(tx)
  const answers = new Map<Settlement, SettleAnswer>()
  const ended = settlements.flatMap((settlement) => {
    const job = jobNumber(settlement.jobId)
    const ofKind = job !== null && (job % 2 === 1) === (settlement.kind === 'event')
    return ofKind ? [{ job, settlement }] : []
  })
  const notifications = await settleNotifications(tx, ledger, ended.filter(isOfNotification), answers)
  const events = await settleEvents(tx, ended.filter(isOfEvent), answers)
  await ledger.write()
  await next(tx, [...notifications, ...events])
  await settleEndpoints(tx, events, answers)
  return settlements.map((settlement) => answers.get(settlement) ?? STALE)
}

interface Ended<Kind extends Settlement> {
  readonly job: number
  readonly settlement: Kind
}

const isOfNotification = (ended: Ended<Settlement>): ended is Ended<NotificationSettlement> =>
  ended.settlement.kind === 'notification'
const isOfEvent = (ended: Ended<Settlement>): ended is Ended<EventSettlement> =>
  ended.settlement.kind === 'event'

async function settleNotifications(
  tx: Transaction,
  ledger: Ledger,
  ended: readonly Ended<NotificationSettlement>[],
  answers: Map<Settlement, SettleAnswer>,
): Promise<Ended<Settlement>[]> {
  if (ended.length === 0) return []
  const messages = ended.flatMap(({ settlement }) => handedOver(settlement.facts))
  await lockMessages(tx, messages, 'shared')
  const rows = await tx.rows<LockedRow & LockedJob>(LOCK_NOTIFICATIONS, [ended.map(({ job }) => job)])
  const locked = new Map(rows.map((row) => [row.job, row]))
  const held = heldOf(ended, locked)
  const facts = held.flatMap(({ settlement }) => settlement.facts)
  const standings = facts.length > 0 ? await readStates(tx, rows) : new Map<string, Standing>()
  const unmatched = await takeUnmatched(
    tx,
    held.map(({ job, settlement }) => [locked.get(job)?.organization ?? '', settlement.facts] as const),
  )
  for (const { job, settlement } of held) {
    const standing = standings.get(locked.get(job)?.id ?? '')
    const events = standing === undefined ? [] : ledger.add(standing, settlement.facts, 'engine')
    if (standing !== undefined) {
      const late: Fact[] = unmatched(standing.row.organization, settlement.facts)
      events.push(...ledger.add(standing, late, 'receipt'))
    }
    answers.set(settlement, { kind: 'settled', events })
  }
  return held
}

async function settleEvents(
  tx: Transaction,
  ended: readonly Ended<EventSettlement>[],
  answers: Map<Settlement, SettleAnswer>,
): Promise<SettledEvent[]> {
  if (ended.length === 0) return []
  const rows = await tx.rows<LockedJob>(LOCK_JOBS, [ended.map(({ job }) => job)])
  const locked = new Map(rows.map((row) => [row.job, row]))
  const held = heldOf(ended, locked).flatMap((one) => {
    const row = locked.get(one.job)
    return row === undefined ? [] : [{ ...one, row }]
  })
  const refOf = ({ row }: { readonly row: LockedJob }): DeliveryRef => ({
    eventId: row.subject,
    endpoint: row.lane,
  })
  await recordAttempts(
    tx,
    held.flatMap((one) => {
      const { attempt } = one.settlement
      return attempt === undefined ? [] : [{ ...refOf(one), attempt }]
    }),
  )
  const over = held.filter(({ settlement }) => settlement.next.kind === 'end')
  await setStates(
    tx,
    over.map((one) => ({ ...refOf(one), state: one.settlement.ended ?? 'failed' })),
  )
  for (const { settlement } of held) answers.set(settlement, { kind: 'settled', events: [] })
  return held.map(({ job, settlement, row }) => ({ job, settlement, endpoint: row.lane }))
}

/** Those whose lease lasts; of two of one job the first. */
function heldOf<Kind extends Settlement>(
  ended: readonly Ended<Kind>[],
  locked: ReadonlyMap<number, { readonly token: number }>,
): Ended<Kind>[] {
  const held = new Map<number, Ended<Kind>>()
  for (const one of ended) {
    if (locked.get(one.job)?.token === one.settlement.token && !held.has(one.job)) held.set(one.job, one)
  }
  return [...held.values()]
}

interface SettledEvent extends Ended<EventSettlement> {
  readonly endpoint: string
}

/** What the attempts say about the endpoints; last, because what became due again is held, too, where one is disabled. */
async function settleEndpoints(
  tx: Transaction,
  events: readonly SettledEvent[],
  answers: Map<Settlement, SettleAnswer>,
): Promise<void> {
  const judged: Judged = await judgeEndpoints(tx, events)
  for (const [settlement, event] of judged.events) {
    answers.set(settlement, { kind: 'settled', events: [], endpointEvents: [event] })
  }
  for (const [endpoint, reason] of judged.disabled) await disableEndpoint(tx, endpoint, reason)
  await judged.announce()
}

/** The end of the jobs, or when they are due again. */
async function next(tx: Transaction, jobs: readonly Ended<Settlement>[]): Promise<void> {
  const over = jobs.filter(({ settlement }) => settlement.next.kind === 'end').map(({ job }) => job)
  if (over.length > 0) await tx.rows(DELETE_JOBS, [over])
  const again = jobs.flatMap(({ job, settlement: { next } }) =>
    next.kind === 'retry' ? [{ job, ...next }] : [],
  )
  if (again.length === 0) return
  await tx.rows(DUE_AGAIN, [
    again.map(({ job }) => job),
    again.map(({ delayMs }) => (delayMs <= 0 ? READY : WAITING)),
    again.map(({ delayMs }) => (delayMs <= 0 ? tx.now : Math.ceil(tx.now + delayMs))),
    again.map(({ outage }) => (outage === true ? 1 : 0)),
  ])
}
