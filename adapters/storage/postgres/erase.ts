import { ERASED_ADDRESS } from '../../../src/core/notification/erased-fact.ts'
import {
  erasedAttempt,
  erasedContent,
  erasedPayload,
  erasedState,
} from '../../../src/core/notification/erasure.ts'
import type { NotificationContent } from '../../../src/core/notification/notification.ts'
import type {
  EraseAnswer,
  EraseCopiesRequest,
  ErasedStep,
  EraseRequest,
} from '../../../src/core/ports/storage/custody.ts'
import type { DeliveryAttempt } from '../../../src/core/ports/storage/webhook-endpoints.ts'
import { erasedErrorText, erasedFactText } from '../rows/erased.ts'
import { createTally, ROW_COST } from '../tally.ts'
import { cancelWaiting } from './changes.ts'
import type { Transaction } from './connection.ts'
import { OWN_EVENTS, removeIdentity } from './remove.ts'
import { setContents } from './set-contents.ts'
import { lockNotifications, type Standing } from './states.ts'

/** The jobs are locked. */
const SELECT_JOBS = 'SELECT id, state FROM carillon.jobs WHERE id = ANY ($1::bigint[])'

const SELECT_BYTES = `
  SELECT id, octet_length(content) AS bytes FROM carillon.notifications WHERE id = ANY ($1::text[])`

const SELECT_CONTENTS = 'SELECT id, content FROM carillon.notifications WHERE id = ANY ($1::text[])'

/** Against settlements and redeliveries. */
const LOCK_DELIVERIES = `
  SELECT n.id, d.seq, d.event_id, d.endpoint, d.payload FROM unnest($1::text[]) AS n (id), LATERAL (
    SELECT d.seq, d.event_id, d.endpoint, d.payload FROM carillon.deliveries AS d
    WHERE ${OWN_EVENTS('n.id')} ORDER BY d.event_id, d.endpoint FOR UPDATE) AS d`

/** Without a wait: the holder of a job may wait for its delivery. */
const LOCK_FREE_JOBS = `
  SELECT id FROM carillon.jobs WHERE id = ANY ($1::bigint[]) AND state <> 2 FOR UPDATE SKIP LOCKED`

const UPDATE_NOTIFICATIONS = `
  UPDATE carillon.notifications SET recipient = '${ERASED_ADDRESS}', person = NULL, metadata = NULL, trace = NULL
  WHERE id = ANY ($1::text[])`

const SELECT_EVENTS = `
  SELECT notification, sequence, fact FROM carillon.events WHERE notification = ANY ($1::text[])`

const UPDATE_EVENTS = `
  UPDATE carillon.events AS e SET fact = given.fact
  FROM unnest($1::text[], $2::integer[], $3::text[]) AS given (notification, sequence, fact)
  WHERE e.notification = given.notification AND e.sequence = given.sequence`

const UPDATE_STATES = `
  UPDATE carillon.states AS s SET fold = given.fold, provider_message_id = NULL, error = given.error
  FROM unnest($1::text[], $2::text[], $3::text[]) AS given (notification, fold, error)
  WHERE s.notification = given.notification`

const UPDATE_DELIVERIES = `
  UPDATE carillon.deliveries AS d SET payload = given.payload, trace = NULL
  FROM unnest($1::text[], $2::text[], $3::text[]) AS given (event_id, endpoint, payload)
  WHERE d.event_id = given.event_id AND d.endpoint = given.endpoint`

const SELECT_ATTEMPTS = `
  SELECT event_id, endpoint, number, attempt FROM carillon.delivery_attempts WHERE event_id = ANY ($1::text[])`

const UPDATE_ATTEMPTS = `
  UPDATE carillon.delivery_attempts AS a SET attempt = given.attempt
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS given (event_id, endpoint, number, attempt)
  WHERE a.event_id = given.event_id AND a.endpoint = given.endpoint AND a.number = given.number`

const PROVE_ERASED = `SELECT 1 FROM carillon.notifications WHERE id = $1 AND recipient = '${ERASED_ADDRESS}'`

const SELECT_COPIES = `
  SELECT DISTINCT notification AS id FROM carillon.copies
  WHERE notification = ANY ($1::text[]) AND address = ANY ($2::text[])`

const DELETE_COPIES = `
  DELETE FROM carillon.copies WHERE notification = ANY ($1::text[]) AND address = ANY ($2::text[])`

const UPDATE_TEXTS = `
  UPDATE carillon.notifications AS n SET content = given.content
  FROM unnest($1::text[], $2::text[]) AS given (id, content) WHERE n.id = given.id`

const UPDATE_ERRORS = `
  UPDATE carillon.states AS s SET error = given.error
  FROM unnest($1::text[], $2::text[]) AS given (notification, error) WHERE s.notification = given.notification`

const PROVE_GONE = `
  SELECT 1 WHERE NOT EXISTS (
    SELECT 1 FROM carillon.copies WHERE notification = $1 AND address = ANY ($2::text[]))`

const LEASED = 2

interface DeliveryRow {
  /** The notification's. */
  readonly id: string
  readonly seq: number
  readonly event_id: string
  readonly endpoint: string
  readonly payload: string
}

interface EventRow {
  readonly notification: string
  readonly sequence: number
  readonly fact: string
}

interface AttemptRow {
  readonly event_id: string
  readonly endpoint: string
  readonly number: number
  readonly attempt: string
}

export async function erase(tx: Transaction, { organizationId, ids }: EraseRequest): Promise<EraseAnswer> {
  const found = await lockOwn(tx, organizationId, ids)
  const standings = found.filter(({ row }) => row.recipient !== ERASED_ADDRESS)
  const { answer, free, states, own } = await idleStep(tx, standings)
  const { erased } = answer
  const [first] = erased
  if (first === undefined) return { ...answer, cancelled: 0, deliveries: 0, events: [] }
  await removeIdentity(tx, erased)
  const contents = await contentsOf(tx, erased)
  await setContents(
    tx,
    contents.map(({ id, content }) => ({ id, content: erasedContent(content, tx.now) })),
  )
  await tx.rows(UPDATE_NOTIFICATIONS, [erased])
  await changeFacts(tx, erased, erasedFactText)
  await eraseDeliveries(tx, own)
  const after = free.map((standing) => ({
    ...standing,
    row: { ...standing.row, recipient: ERASED_ADDRESS, person: null, metadata: null, trace: null },
    state: erasedState(standing.state),
  }))
  await writeStates(tx, after)
  const waiting = after.filter(({ row }) => states.has(2 * row.seq))
  const events = await cancelWaiting(tx, waiting)
  tx.prove(PROVE_ERASED, [first])
  return { ...answer, cancelled: waiting.length, deliveries: own.length, events }
}

export async function eraseCopies(
  tx: Transaction,
  { organizationId, ids, addresses, without }: EraseCopiesRequest,
): Promise<ErasedStep> {
  const found = await lockOwn(tx, organizationId, ids)
  const copied = await tx.rows<{ id: string }>(SELECT_COPIES, [found.map(({ row }) => row.id), addresses])
  const standings = found.filter(({ row }) => copied.some(({ id }) => id === row.id))
  const { answer, free, own } = await idleStep(tx, standings)
  const { erased } = answer
  const [first] = erased
  if (first === undefined) return answer
  const channelOf = new Map(free.map(({ row }) => [row.id, row.channel]))
  // The list of attachments is empty: they are in a column of their own.
  const contents = (await contentsOf(tx, erased)).map(({ id, content }) => ({
    id,
    text: JSON.stringify(without(channelOf.get(id) ?? '', content)),
  }))
  await tx.rows(UPDATE_TEXTS, [contents.map(({ id }) => id), contents.map(({ text }) => text)])
  await changeFacts(tx, erased, (fact) => erasedFactText(fact, addresses))
  const failed = free.flatMap(({ row, state: { error } }) =>
    error === null ? [] : { id: row.id, error: erasedErrorText(JSON.stringify(error), addresses) },
  )
  await tx.rows(UPDATE_ERRORS, [failed.map(({ id }) => id), failed.map(({ error }) => error)])
  await eraseDeliveries(tx, own, addresses)
  await tx.rows(DELETE_COPIES, [erased, addresses])
  tx.prove(PROVE_GONE, [first, addresses])
  return answer
}

/** Locks an organization's notifications with their jobs, in the order of ids. */
async function lockOwn(tx: Transaction, organizationId: string, ids: readonly string[]): Promise<Standing[]> {
  const standings = await lockNotifications(tx, ids)
  return [...standings.values()].filter(({ row }) => row.organization === organizationId)
}

/** Those of which nothing runs, until the step is long enough. Locks their deliveries. */
async function idleStep(
  tx: Transaction,
  standings: readonly Standing[],
): Promise<{
  readonly answer: ErasedStep
  readonly free: readonly Standing[]
  /** By the ids of jobs. */
  readonly states: ReadonlyMap<number, number>
  readonly own: readonly DeliveryRow[]
}> {
  const states = await jobStates(tx, standings)
  const idle = standings.filter(({ row }) => states.get(2 * row.seq) !== LEASED)
  // Only now, because a settlement that had the job may have published events.
  const deliveries = await lockDeliveries(tx, idle)
  const { free, left } = await shortStep(tx, idle, deliveries)
  const erased = free.map(({ row }) => row.id)
  const busy = standings.filter(({ row }) => !erased.includes(row.id) && !left.includes(row.id))
  return {
    answer: { erased, busy: busy.map(({ row }) => row.id), left },
    free,
    states,
    own: deliveries.rows.filter(({ id }) => erased.includes(id)),
  }
}

/** The states of their jobs, by id. */
async function jobStates(tx: Transaction, standings: readonly Standing[]): Promise<Map<number, number>> {
  const rows = await tx.rows<{ id: number; state: number }>(SELECT_JOBS, [
    standings.map(({ row }) => 2 * row.seq),
  ])
  return new Map(rows.map(({ id, state }) => [id, state]))
}

interface Deliveries {
  readonly rows: readonly DeliveryRow[]
  /** Notifications with a delivery that is leased, or about to be. */
  readonly busy: ReadonlySet<string>
}

async function lockDeliveries(tx: Transaction, standings: readonly Standing[]): Promise<Deliveries> {
  const rows = await tx.rows<DeliveryRow>(LOCK_DELIVERIES, [standings.map(({ row }) => row.id)])
  const jobs = rows.map(({ seq }) => 2 * seq + 1)
  const free = await tx.rows<{ id: number }>(LOCK_FREE_JOBS, [jobs])
  const locked = new Set(free.map(({ id }) => id))
  const all = await tx.rows<{ id: number }>(SELECT_JOBS, [jobs])
  const taken = new Set(all.flatMap(({ id }) => (locked.has(id) ? [] : [id])))
  return { rows, busy: new Set(rows.flatMap(({ id, seq }) => (taken.has(2 * seq + 1) ? [id] : []))) }
}

/** The first ones that no delivery makes busy, until the step is long enough. */
async function shortStep(
  tx: Transaction,
  standings: readonly Standing[],
  { rows, busy }: Deliveries,
): Promise<{ readonly free: readonly Standing[]; readonly left: readonly string[] }> {
  const found = await tx.rows<{ id: string; bytes: number }>(SELECT_BYTES, [
    standings.map(({ row }) => row.id),
  ])
  const bytesOf = new Map(found.map(({ id, bytes }) => [id, bytes]))
  const tally = createTally()
  const free: Standing[] = []
  const left: string[] = []
  for (const standing of standings) {
    const { id } = standing.row
    if (busy.has(id)) continue
    if (tally.isFull()) {
      left.push(id)
      continue
    }
    free.push(standing)
    const own = rows.filter((delivery) => delivery.id === id).length + standing.state.sequence
    tally.add((bytesOf.get(id) ?? 0) + own * ROW_COST)
  }
  return { free, left }
}

async function contentsOf(
  tx: Transaction,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly content: NotificationContent }[]> {
  const rows = await tx.rows<{ id: string; content: string }>(SELECT_CONTENTS, [ids])
  return rows.map(({ id, content }) => ({ id, content: JSON.parse(content) }))
}

async function changeFacts(
  tx: Transaction,
  ids: readonly string[],
  changed: (fact: string) => string,
): Promise<void> {
  const rows = (await tx.rows<EventRow>(SELECT_EVENTS, [ids])).flatMap((row) => {
    const fact = changed(row.fact)
    return fact === row.fact ? [] : { ...row, fact }
  })
  if (rows.length === 0) return
  await tx.rows(UPDATE_EVENTS, [
    rows.map(({ notification }) => notification),
    rows.map(({ sequence }) => sequence),
    rows.map(({ fact }) => fact),
  ])
}

async function writeStates(tx: Transaction, standings: readonly Standing[]): Promise<void> {
  const stored = standings.filter(({ stored }) => stored)
  await tx.rows(UPDATE_STATES, [
    stored.map(({ row }) => row.id),
    stored.map(({ state }) => JSON.stringify(state.fold)),
    stored.map(({ state }) => (state.error === null ? null : JSON.stringify(state.error))),
  ])
}

/** @param addresses only what names them */
async function eraseDeliveries(
  tx: Transaction,
  rows: readonly DeliveryRow[],
  addresses?: readonly string[],
): Promise<void> {
  if (rows.length === 0) return
  const changed = rows.flatMap((row) => {
    const payload = erasedPayload(row.payload, addresses)
    return payload === row.payload ? [] : { ...row, payload }
  })
  const named = new Set(changed.map(({ event_id }) => event_id))
  await tx.rows(UPDATE_DELIVERIES, [
    changed.map(({ event_id }) => event_id),
    changed.map(({ endpoint }) => endpoint),
    changed.map(({ payload }) => payload),
  ])
  const attempts = (
    await tx.rows<AttemptRow>(SELECT_ATTEMPTS, [[...new Set(rows.map(({ event_id }) => event_id))]])
  ).flatMap((row) => {
    const attempt: DeliveryAttempt = JSON.parse(row.attempt)
    // An answer may echo a part of what it got.
    const erased = erasedAttempt(attempt, named.has(row.event_id) ? undefined : addresses)
    return erased === attempt ? [] : { ...row, attempt: JSON.stringify(erased) }
  })
  await tx.rows(UPDATE_ATTEMPTS, [
    attempts.map(({ event_id }) => event_id),
    attempts.map(({ endpoint }) => endpoint),
    attempts.map(({ number }) => number),
    attempts.map(({ attempt }) => attempt),
  ])
}
