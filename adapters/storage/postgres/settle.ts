import { reportedTo } from '../../../src/core/notification/record-facts.ts'
import type { SettleAnswer, Settlement } from '../../../src/core/ports/storage/settle.ts'
import type { FactRow } from '../rows/facts.ts'
import type { LabelColumns } from '../rows/labels.ts'
import type { Connection, Transaction } from './connection.ts'
import {
  type DeliveryRef,
  disableEndpoint,
  publishedByProvider,
  recordAttempts,
  setStates,
} from './deliveries.ts'
import type { JobRow } from './due-jobs.ts'
import { type DecidedEndpoints, decideEndpoints } from './endpoint-health.ts'
import { dataError } from './errors.ts'
import { copiesFor, createLedger, type Ledger } from './facts.ts'
import { unpacked } from './labels.ts'
import { jobNumber } from './leases.ts'
import { lockForContents, setContents } from './set-contents.ts'
import { type StateRow, toStanding } from './states.ts'
import { handedOver, sharedLocks, takeUnmatched } from './unmatched.ts'

/** Deletes the jobs that settlements end and locks those due again, if their leases are still valid. */
const takeJobs = (taken: string): string => `
  SELECT o_job AS job, o_token AS token, o_subject AS subject, o_lane AS lane FROM carillon.take_leased_1(${taken})`

/** The same for notifications, with the rows that facts need. */
const takeNotifications = (taken: string): string => `
  SELECT o_job AS job, o_token AS token, o_job / 2 AS seq, o_id AS id, o_organization AS organization, o_channel AS channel,
    o_recipient AS recipient, o_created_at AS created_at, o_send_at AS send_at, o_trace AS trace, o_labels AS labels, o_status AS status,
    o_sequence AS sequence, o_published AS published, o_fold AS fold, o_provider AS provider,
    o_provider_message_id AS provider_message_id, o_error AS error
  FROM carillon.take_notifications_1(${taken})`

/** Most installations have neither, which saves lookups per settlement. */
const EXIST = `
  SELECT EXISTS (SELECT 1 FROM carillon.unmatched_receipts) AS unmatched,
    EXISTS (SELECT 1 FROM carillon.webhook_endpoints) AS endpoints`

/** A settled job no longer must run alone, unless it never reached a provider. */
const DUE_AGAIN = `
  UPDATE carillon.jobs AS j
  SET state = CASE WHEN j.recovered AND again.not_sent AND again.state = 0 THEN 3 ELSE again.state END,
    due_at = again.due_at, outages = j.outages + again.outage, recovered = j.recovered AND again.not_sent,
    token = NULL, lease_until = NULL, provider = NULL,
    delayed_address = again.delayed_address, delayed_person = again.delayed_person
  FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::integer[], $5::boolean[], $6::text[], $7::text[])
    AS again (id, state, due_at, outage, not_sent, delayed_address, delayed_person)
  WHERE j.id = again.id RETURNING j.id, j.lane`

const READY = 0
const WAITING = 1

type EventSettlement = Extract<Settlement, { readonly kind: 'event' }>
type NotificationSettlement = Extract<Settlement, { readonly kind: 'notification' }>

/** Rows of the last two statements of {@link openingOf}. Empty: no notifications. */
type Opened = readonly [
  taken?: readonly TakenNotification[],
  exist?: readonly { readonly unmatched: boolean; readonly endpoints: boolean }[],
]

type TakenNotification = Omit<FactRow, keyof LabelColumns> &
  (StateRow | { readonly [Column in keyof StateRow]: null }) & {
    readonly job: number
    readonly token: number
    /** See {@link unpacked}. */
    readonly labels: string | null
  }

interface TakenJob {
  readonly job: number
  readonly token: number
  readonly subject: string
  readonly lane: string
}

/** A settlement removes the token from its job, or the job itself. */
const PROVE_SETTLED = `
  SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM carillon.jobs WHERE id = $1::bigint AND token = $2::bigint)`

const failed = (cause: unknown): SettleAnswer => ({ kind: 'failed', error: dataError(cause) })
const STALE: SettleAnswer = { kind: 'stale' }

/** Settles attempts of leased jobs, one commit per set. */
export function createSettle(
  connection: Connection,
): (settlements: readonly Settlement[]) => Promise<SettleAnswer[]> {
  return async function settle(settlements) {
    if (settlements.length === 0) return []
    return connection.set(settlements, failed, settleSet, openingOf)
  }
}

/** Statements that share the round trip of BEGIN. {@link settleSet} reads the rows in this order. */
function openingOf(settlements: readonly Settlement[]): string[] {
  const { notifications, events } = endedOf(settlements)
  const statements: string[] = []
  if (notifications.length > 0) {
    const messages = notifications.flatMap(({ settlement }) => handedOver(settlement.facts))
    if (messages.length > 0) statements.push(sharedLocks(messages))
    const replaced = notifications.filter(({ settlement }) => settlement.content !== undefined)
    if (replaced.length > 0) statements.push(lockForContents(replaced.map(({ job }) => job)))
    statements.push(takeNotifications(argumentsOf(notifications)), EXIST)
  }
  if (events.length > 0) statements.push(takeJobs(argumentsOf(events)))
  return statements
}

/** Jobs with their tokens: ended ones, and those due again. */
function argumentsOf(ended: readonly Ended<Settlement>[]): string {
  const over = ended.filter(({ settlement }) => settlement.next.kind === 'end')
  const again = ended.filter(({ settlement }) => settlement.next.kind !== 'end')
  return [over, again]
    .flatMap((some) => [some.map(({ job }) => job), some.map(({ settlement }) => settlement.token)])
    .map((numbers) => `'{${numbers}}'::bigint[]`)
    .join(', ')
}

/** Settlements with a valid lease ref; the first one per lease. */
function endedOf(settlements: readonly Settlement[]): {
  readonly notifications: readonly Ended<NotificationSettlement>[]
  readonly events: readonly Ended<EventSettlement>[]
} {
  const ended = new Map<string, Ended<Settlement>>()
  for (const settlement of settlements) {
    const job = jobNumber(settlement.jobId)
    const lease = `${job} ${settlement.token}`
    const ofKind = job !== null && (job % 2 === 1) === (settlement.kind === 'event')
    if (ofKind && Number.isSafeInteger(settlement.token) && !ended.has(lease))
      ended.set(lease, { job, settlement })
  }
  const all = [...ended.values()]
  return { notifications: all.filter(isOfNotification), events: all.filter(isOfEvent) }
}

async function settleSet(tx: Transaction, settlements: readonly Settlement[]): Promise<SettleAnswer[]> {
  const answers = new Map<Settlement, SettleAnswer>()
  const { notifications: ofNotifications, events: ofEvents } = endedOf(settlements)
  const opened = [...tx.opened]
  const jobs = ofEvents.length > 0 ? (opened.pop() as readonly TakenJob[]) : []
  const [taken = [], [exist] = []] = opened.slice(-2) as readonly unknown[] as Opened
  const ledger = createLedger(tx, exist?.endpoints)
  const notifications = await settleNotifications(
    tx,
    ledger,
    ofNotifications,
    { taken, unmatched: exist?.unmatched === true },
    answers,
  )
  const events = await settleEvents(tx, ofEvents, jobs, answers)
  await ledger.write()
  const settled = [...notifications, ...events]
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
  opened: { readonly taken: readonly TakenNotification[]; readonly unmatched: boolean },
  answers: Map<Settlement, SettleAnswer>,
): Promise<Ended<Settlement>[]> {
  if (ended.length === 0) return []
  const held = heldOf(ended, opened.taken)
  const unmatched = await takeUnmatched(
    tx,
    held.map(({ settlement, row }) => [row.organization, settlement.facts] as const),
    opened.unmatched,
  )
  const reported = held.map(({ settlement, row }) => ({
    id: row.id,
    to: row.recipient,
    facts: unmatched(row.organization, settlement.facts),
  }))
  const copiesOf = await copiesFor(tx, reported)
  for (const [at, { settlement, row }] of held.entries()) {
    const standing = toStanding({ ...row, ...unpacked(row.labels) }, row.status === null ? null : row)
    const events = ledger.add(standing, settlement.facts, 'engine')
    for (const fact of reported[at]?.facts ?? []) {
      const to = reportedTo(fact, row.recipient, () => copiesOf(row.id))
      events.push(...ledger.add(standing, [fact], 'receipt', to))
    }
    if (settlement.providerEvent !== undefined) ledger.publish(publishedByProvider(settlement.providerEvent))
    answers.set(settlement, { kind: 'settled', events })
  }
  await setContents(
    tx,
    held.map(({ settlement: { content }, row: { id } }) => ({ id, content })),
  )
  return held
}

async function settleEvents(
  tx: Transaction,
  ended: readonly Ended<EventSettlement>[],
  rows: readonly TakenJob[],
  answers: Map<Settlement, SettleAnswer>,
): Promise<SettledEvent[]> {
  if (ended.length === 0) return []
  const held = heldOf(ended, rows)
  const refOf = ({ row }: { readonly row: TakenJob }): DeliveryRef => ({
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

/** Settlements whose lease is still valid, with the deleted or locked row. */
function heldOf<Kind extends Settlement, Row extends { readonly job: number; readonly token: number }>(
  ended: readonly Ended<Kind>[],
  rows: readonly Row[],
): (Ended<Kind> & { readonly row: Row })[] {
  const taken = new Map(rows.map((row) => [row.job, row]))
  return ended.flatMap((one) => {
    const row = taken.get(one.job)
    return row?.token === one.settlement.token ? [{ ...one, row }] : []
  })
}

interface SettledEvent extends Ended<EventSettlement> {
  readonly endpoint: string
}

/**
 * Applies the attempts' results to endpoints. Runs last, because disabling an endpoint also holds jobs that just became
 * due again.
 */
async function settleEndpoints(
  tx: Transaction,
  events: readonly SettledEvent[],
  answers: Map<Settlement, SettleAnswer>,
): Promise<void> {
  const decided: DecidedEndpoints = await decideEndpoints(tx, events)
  for (const [settlement, event] of decided.events) {
    answers.set(settlement, { kind: 'settled', events: [], endpointEvents: [event] })
  }
  for (const [endpoint, reason] of decided.disabled) await disableEndpoint(tx, endpoint, reason)
  await decided.publish()
}

/** Schedules the jobs that have not ended. */
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
    again.map(({ notSent }) => notSent === true),
    again.map(({ delayedFor }) => delayedFor?.address ?? null),
    again.map(({ delayedFor }) => delayedFor?.recipient ?? null),
  ]
  const delays = new Map(again.map(({ job, delayMs }) => [job, delayMs]))
  const rows = await tx.rows<JobRow>(DUE_AGAIN, values)
  // No wake-up for jobs that are due at once: this process claims them, and it knows which provider failed.
  for (const { id, lane } of rows) {
    tx.made.refs?.push({ jobId: String(id), lane, dueInMs: Math.max(0, Math.ceil(delays.get(id) ?? 0)) })
  }
}
