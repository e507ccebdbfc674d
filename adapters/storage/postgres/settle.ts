import type { Fact } from '../../../src/domain/facts.ts'
import type { SettleAnswer, Settlement } from '../../../src/ports/storage/settle.ts'
import type { JobRow } from './announce.ts'
import type { Connection, Transaction } from './connection.ts'
import { type DeliveryRef, disableEndpoint, recordAttempts, setStates } from './deliveries.ts'
import { type Judged, judgeEndpoints } from './endpoint-health.ts'
import { dataError } from './errors.ts'
import { createLedger, type Ledger } from './facts.ts'
import { jobNumber } from './leases.ts'
import { type LockedRow, lockLeased, type StateRow, standingsOf, statesOfJobs } from './states.ts'
import { handedOver, sharedLocks, takeUnmatched } from './unmatched.ts'

const lockJobs = (jobs: readonly number[]): string => `
  SELECT j.id AS job, j.token, j.subject, j.lane FROM carillon.jobs AS j
  WHERE j.id = ANY ('{${jobs}}'::bigint[]) AND j.state = 2 ORDER BY j.id FOR UPDATE`

/** Most have neither, and then nobody needs to look for those of a settlement. */
const EXIST = `
  SELECT EXISTS (SELECT 1 FROM carillon.unmatched_receipts) AS unmatched,
    EXISTS (SELECT 1 FROM carillon.webhook_endpoints) AS endpoints`

/** Settled, a recovered job no longer has to run alone. */
const DUE_AGAIN = `
  UPDATE carillon.jobs AS j
  SET state = again.state, due_at = again.due_at, outages = j.outages + again.outage, recovered = false,
    token = NULL, lease_until = NULL, provider = NULL
  FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::integer[]) AS again (id, state, due_at, outage)
  WHERE j.id = again.id RETURNING j.id, j.lane`

const READY = 0
const WAITING = 1

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>
type NotificationSettlement = Extract<Settlement, { readonly kind: 'notification' }>

/** The rows of the last three statements about notifications that {@link openingOf} gives; empty without any. */
type Opened = readonly [
  locked?: readonly LockedNotification[],
  states?: readonly StateRow[],
  exist?: readonly { readonly unmatched: boolean; readonly endpoints: boolean }[],
]

type LockedNotification = LockedRow & Pick<LockedJob, 'job' | 'token'>

interface LockedJob {
  readonly job: number
  readonly token: number
  readonly subject: string
  readonly lane: string
}

/** A settlement takes the token from its job, or the job away. */
const PROVE_SETTLED = `
  SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM carillon.jobs WHERE id = $1::bigint AND token = $2::bigint)`

const failed = (cause: unknown): SettleAnswer => ({ kind: 'failed', error: dataError(cause) })
const STALE: SettleAnswer = { kind: 'stale' }

/** Ends leased jobs' attempts, each set in one commit. */
export function createSettle(
  connection: Connection,
): (settlements: readonly Settlement[]) => Promise<SettleAnswer[]> {
  return async function settle(settlements) {
    if (settlements.length === 0) return []
    return connection.set(settlements, failed, settleSet, openingOf)
  }
}

/** What is locked and read goes along with the BEGIN; {@link settleSet} takes the rows in this order. */
function openingOf(settlements: readonly Settlement[]): string[] {
  const { notifications, events } = endedOf(settlements)
  const statements: string[] = []
  if (notifications.length > 0) {
    const messages = notifications.flatMap(({ settlement }) => handedOver(settlement.facts))
    if (messages.length > 0) statements.push(sharedLocks(messages))
    const jobs = notifications.map(({ job }) => job)
    statements.push(lockLeased(jobs), statesOfJobs(jobs), EXIST)
  }
  if (events.length > 0) statements.push(lockJobs(events.map(({ job }) => job)))
  return statements
}

function endedOf(settlements: readonly Settlement[]): {
  readonly notifications: readonly Ended<NotificationSettlement>[]
  readonly events: readonly Ended<EventSettlement>[]
} {
  const ended = settlements.flatMap((settlement) => {
    const job = jobNumber(settlement.jobId)
    const ofKind = job !== null && (job % 2 === 1) === (settlement.kind === 'event')
    return ofKind ? [{ job, settlement }] : []
  })
  return { notifications: ended.filter(isOfNotification), events: ended.filter(isOfEvent) }
}

async function settleSet(tx: Transaction, settlements: readonly Settlement[]): Promise<SettleAnswer[]> {
  const answers = new Map<Settlement, SettleAnswer>()
  const { notifications: ofNotifications, events: ofEvents } = endedOf(settlements)
  const opened = [...tx.opened]
  const jobs = ofEvents.length > 0 ? (opened.pop() as readonly LockedJob[]) : []
  const [locked = [], states = [], [exist] = []] = opened.slice(-3) as readonly unknown[] as Opened
  const ledger = createLedger(tx, exist?.endpoints)
  const notifications = await settleNotifications(
    tx,
    ledger,
    ofNotifications,
    { locked, states, unmatched: exist?.unmatched === true },
    answers,
  )
  const events = await settleEvents(tx, ofEvents, jobs, answers)
  const settled = [...notifications, ...events]
  await ledger.write(settled.filter(({ settlement }) => settlement.next.kind === 'end').map(({ job }) => job))
  await retry(tx, settled)
  const [first] = settled
  if (first !== undefined) tx.prove(PROVE_SETTLED, [first.job, first.settlement.token])
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
  opened: {
    readonly locked: readonly LockedNotification[]
    readonly states: readonly StateRow[]
    readonly unmatched: boolean
  },
  answers: Map<Settlement, SettleAnswer>,
): Promise<Ended<Settlement>[]> {
  if (ended.length === 0) return []
  const locked = new Map(opened.locked.map((row) => [row.job, row]))
  const held = heldOf(ended, locked)
  const standings = standingsOf(opened.locked, opened.states)
  const unmatched = await takeUnmatched(
    tx,
    held.map(({ job, settlement }) => [locked.get(job)?.organization ?? '', settlement.facts] as const),
    opened.unmatched,
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
  rows: readonly LockedJob[],
  answers: Map<Settlement, SettleAnswer>,
): Promise<SettledEvent[]> {
  if (ended.length === 0) return []
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

/** When the jobs that have not ended are due again. */
async function retry(tx: Transaction, jobs: readonly Ended<Settlement>[]): Promise<void> {
  const again = jobs.flatMap(({ job, settlement: { next } }) =>
    next.kind === 'retry' ? [{ job, ...next }] : [],
  )
  if (again.length === 0) return
  const values = [
    again.map(({ job }) => job),
    again.map(({ delayMs }) => (delayMs <= 0 ? READY : WAITING)),
    again.map(({ delayMs }) => (delayMs <= 0 ? tx.now : Math.ceil(tx.now + delayMs))),
    again.map(({ outage }) => (outage === true ? 1 : 0)),
  ]
  const delays = new Map(again.map(({ job, delayMs }) => [job, delayMs]))
  const rows = await tx.rows<JobRow>(DUE_AGAIN, values)
  // Others are not woken by what is due at once: this process claims it, and knows from which provider it has failed over.
  for (const { id, lane } of rows) {
    tx.made.refs?.push({ jobId: String(id), lane, dueInMs: Math.max(0, Math.ceil(delays.get(id) ?? 0)) })
  }
}
