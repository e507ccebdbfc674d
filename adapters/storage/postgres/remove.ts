import { LISTENER_IDS } from '../../../src/core/delivery/listeners.ts'
import type { Fact } from '../../../src/core/notification/facts.ts'
import { forgetAddresses } from './addresses.ts'
import type { Transaction } from './connection.ts'

/** Range of ids of a notification's events: `evt_<digits>_…`. A backtick is the first character after an underscore. */
export const OWN_EVENTS = (id: string): string =>
  `d.event_id >= 'evt_' || substr(${id}, 7) || '_' AND d.event_id < 'evt_' || substr(${id}, 7) || '\`'`

/** The endpoint of the delivery `d` is a listener. */
export const OF_LISTENER: string = `d.endpoint >= '${LISTENER_IDS.from}' AND d.endpoint < '${LISTENER_IDS.until}'`

/** The notification `n` has no job, neither its own nor a delivery's. @param counts which deliveries `d` count */
export const noJob = (counts = 'true'): string => `NOT EXISTS (
      SELECT 1 FROM carillon.jobs AS j WHERE j.id = 2 * n.seq)
    AND NOT EXISTS (SELECT 1 FROM carillon.deliveries AS d
      WHERE ${OWN_EVENTS('n.id')} AND d.state = 'pending' AND ${counts})`

/** Locks against concurrent retries, receipts and sweeps. */
export const LOCK_NOTIFICATIONS: string = `
  SELECT n.id FROM carillon.notifications AS n WHERE n.id = ANY ($1::text[]) ORDER BY n.id FOR UPDATE`

const SELECT_DELIVERIES = `
  SELECT d.seq, d.event_id, d.endpoint FROM unnest($1::text[]) AS n (id), LATERAL (
    SELECT d.seq, d.event_id, d.endpoint FROM carillon.deliveries AS d WHERE ${OWN_EVENTS('n.id')}) AS d`

/** In the order of ids, like settlements. */
export const DELETE_JOBS: string = `
  WITH locked AS MATERIALIZED (
    SELECT id FROM carillon.jobs WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE)
  DELETE FROM carillon.jobs AS j USING locked WHERE j.id = locked.id`

const NAMED = 'unnest($1::text[], $2::text[]) AS g (event_id, endpoint)'

const DELETE_ATTEMPTS = `
  DELETE FROM carillon.delivery_attempts AS a USING ${NAMED}
  WHERE a.event_id = g.event_id AND a.endpoint = g.endpoint`

const DELETE_DELIVERIES = `
  DELETE FROM carillon.deliveries AS d USING ${NAMED}
  WHERE d.event_id = g.event_id AND d.endpoint = g.endpoint RETURNING d.seq`

/** Read as text: PostgreSQL's JSON refuses documents with U+0000 or lone surrogates. */
const SELECT_HANDED_OVER = `
  SELECT e.notification, e.fact FROM carillon.events AS e
  WHERE e.notification = ANY ($1::text[]) AND e.fact LIKE '%"providerMessageId":"%'`

/** The key of a hand-over begins with the provider. */
const DELETE_HANDOVERS = `
  DELETE FROM carillon.handovers AS h
  USING unnest($1::text[], $2::text[], $3::text[]) AS s (provider, message_id, notification)
  WHERE h.provider = s.provider AND h.message_id = s.message_id AND h.notification = s.notification`

/** By the whole key: there is no index by notification. The id chooses the partition. */
const DELETE_METADATA = `
  DELETE FROM carillon.metadata AS m
  USING unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
    AS g (organization, name, value, created_at, seq, notification)
  WHERE m.organization = g.organization AND m.name = g.name AND m.value = g.value
    AND m.created_at = g.created_at AND m.seq = g.seq AND m.notification = g.notification`

const SELECT_METADATA = `
  SELECT n.id, n.organization, n.created_at, n.seq, n.metadata FROM carillon.notifications AS n
  WHERE n.id = ANY ($1::text[]) AND n.metadata IS NOT NULL`

const DELETE_COPIES = 'DELETE FROM carillon.copies WHERE notification = ANY ($1::text[])'

const OF_NOTIFICATIONS = [
  'DELETE FROM carillon.events WHERE notification = ANY ($1::text[])',
  'DELETE FROM carillon.named_uploads WHERE notification = ANY ($1::text[])',
  'DELETE FROM carillon.states WHERE notification = ANY ($1::text[])',
  'DELETE FROM carillon.notifications WHERE id = ANY ($1::text[])',
]

export interface DeliveryRow {
  readonly seq: number
  readonly event_id: string
  readonly endpoint: string
}

export async function deliveriesOf(tx: Transaction, ids: readonly string[]): Promise<DeliveryRow[]> {
  return ids.length === 0 ? [] : tx.rows<DeliveryRow>(SELECT_DELIVERIES, [ids])
}

/** Removes deliveries with their attempts. Returns their number. */
export async function removeDeliveries(tx: Transaction, found: readonly DeliveryRow[]): Promise<number> {
  if (found.length === 0) return 0
  const named = [found.map(({ event_id }) => event_id), found.map(({ endpoint }) => endpoint)]
  await tx.rows(DELETE_ATTEMPTS, named)
  return (await tx.rows(DELETE_DELIVERIES, named)).length
}

/** Removes deliveries with their attempts and jobs. Returns their number. */
export async function removeWithJobs(tx: Transaction, deliveries: readonly DeliveryRow[]): Promise<number> {
  if (deliveries.length === 0) return 0
  const jobs = deliveries.map(({ seq }) => 2 * seq + 1)
  await tx.rows(DELETE_JOBS, [jobs])
  const removed = await removeDeliveries(tx, deliveries)
  // Jobs of a redelivery that locked the rows first.
  await tx.rows(DELETE_JOBS, [jobs])
  return removed
}

/** Removes hand-overs, copies and the indexes of metadata and addresses. The notifications still have both. */
export async function removeIdentity(tx: Transaction, ids: readonly string[]): Promise<void> {
  await removeHandovers(tx, ids)
  await removeMetadata(tx, ids)
  await forgetAddresses(tx, ids)
  await tx.rows(DELETE_COPIES, [ids])
}

/** Removes notifications with their events, hand-overs and metadata. */
export async function removeNotifications(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await removeIdentity(tx, ids)
  for (const statement of OF_NOTIFICATIONS) await tx.rows(statement, [ids])
}

async function removeHandovers(tx: Transaction, over: readonly string[]): Promise<void> {
  const rows = await tx.rows<{ notification: string; fact: string }>(SELECT_HANDED_OVER, [over])
  const sent = rows.flatMap(({ notification, fact }) => {
    const { type, provider = '', providerMessageId }: Fact = JSON.parse(fact)
    return type === 'sent' && providerMessageId !== undefined
      ? [{ notification, provider, providerMessageId }]
      : []
  })
  if (sent.length === 0) return
  await tx.rows(DELETE_HANDOVERS, [
    sent.map(({ provider }) => provider),
    sent.map(({ providerMessageId }) => providerMessageId),
    sent.map(({ notification }) => notification),
  ])
}

interface LabelledRow {
  readonly id: string
  readonly organization: string
  readonly created_at: number
  readonly seq: number
  readonly metadata: string
}

async function removeMetadata(tx: Transaction, ids: readonly string[]): Promise<void> {
  const rows = await tx.rows<LabelledRow>(SELECT_METADATA, [ids])
  const pairs = rows.flatMap((row) =>
    Object.entries(JSON.parse(row.metadata) as Readonly<Record<string, string>>).map(([name, value]) => ({
      ...row,
      name,
      value,
    })),
  )
  if (pairs.length === 0) return
  await tx.rows(DELETE_METADATA, [
    pairs.map(({ organization }) => organization),
    pairs.map(({ name }) => name),
    pairs.map(({ value }) => value),
    pairs.map((row) => row.created_at),
    pairs.map(({ seq }) => seq),
    pairs.map(({ id }) => id),
  ])
}
