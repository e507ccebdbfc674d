import type { Fact } from '../../../src/core/notification/facts.ts'
import type { MessageReport } from '../../../src/core/ports/storage/receipts.ts'
import type { Transaction } from './connection.ts'
import { hashOf } from './hash.ts'

/** Locks shared by all messages. A server has room for some thousands. */
const LOCKS = 64

/** Namespace of these advisory locks in the database. */
const LOCK_NAMESPACE = 0x6361726c

const LOCK_ALONE = `
  SELECT pg_advisory_xact_lock(${LOCK_NAMESPACE}, place)::text FROM unnest($1::integer[]) AS l (place)`

const INSERT = `
  INSERT INTO carillon.unmatched_receipts (received_at, hash, organization, provider, message_id, fact)
  SELECT $1::bigint, decode(g.hash, 'hex'), g.organization, g.provider, g.message_id, g.fact
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    WITH ORDINALITY AS g (hash, organization, provider, message_id, fact, number)
  ORDER BY g.number`

const TAKE = `
  WITH chosen AS (
    SELECT u.id FROM unnest($1::text[], $2::text[], $3::text[]) AS sent (organization, provider, message_id)
    JOIN carillon.unmatched_receipts AS u ON u.provider = sent.provider AND u.message_id = sent.message_id
      AND (u.organization IS NULL OR u.organization = sent.organization)
    ORDER BY u.id FOR UPDATE OF u)
  DELETE FROM carillon.unmatched_receipts AS u USING chosen WHERE u.id = chosen.id
  RETURNING u.id, u.organization, u.provider, u.message_id, u.fact`

interface UnmatchedRow {
  readonly id: number
  readonly organization: string | null
  readonly provider: string
  readonly message_id: string
  readonly fact: string
}

/** A provider's id for a message. */
export interface MessageRef {
  readonly provider: string
  readonly messageId: string
}

/**
 * Orders a report and a concurrent settlement of its message: otherwise the report would miss the hand-over, and the
 * settlement would miss the report. Settlements share the locks of their messages ({@link sharedLocks}); storing a
 * report takes them exclusively. Taken in a fixed order.
 */
export async function lockMessages(tx: Transaction, messages: readonly MessageRef[]): Promise<void> {
  await tx.rows(LOCK_ALONE, [placesOf(messages)])
}

/** Takes the shared locks of a settlement, before any row is locked. */
export const sharedLocks = (messages: readonly MessageRef[]): string => `
  SELECT pg_advisory_xact_lock_shared(${LOCK_NAMESPACE}, place)::text FROM unnest('{${placesOf(messages)}}'::integer[]) AS l (place)`

function placesOf(messages: readonly MessageRef[]): number[] {
  const places = messages.map(
    ({ provider, messageId }) => Number.parseInt(hashOf(provider, messageId).slice(0, 8), 16) % LOCKS,
  )
  return [...new Set(places)].sort((a, b) => a - b)
}

/** Messages that the facts hand over. */
export function handedOver(facts: readonly Fact[]): MessageRef[] {
  return facts.flatMap(({ type, provider = '', providerMessageId }) =>
    type === 'sent' && providerMessageId !== undefined ? [{ provider, messageId: providerMessageId }] : [],
  )
}

/** Stored reports about the messages that the facts hand over. Each is returned once. */
export type Unmatched = (organization: string, facts: readonly Fact[]) => Fact[]

/**
 * Takes the receipts that arrived before the hand-overs in a set of facts.
 *
 * @param any whether there is any unmatched receipt
 */
export async function takeUnmatched(
  tx: Transaction,
  settled: readonly (readonly [organization: string, facts: readonly Fact[]])[],
  any: boolean,
): Promise<Unmatched> {
  if (!any) return () => []
  const sent = settled.flatMap(([organization, facts]) =>
    handedOver(facts).map((message) => ({ ...message, organization })),
  )
  if (sent.length === 0) return () => []
  const rows = await tx.rows<UnmatchedRow>(TAKE, [
    sent.map(({ organization }) => organization),
    sent.map(({ provider }) => provider),
    sent.map(({ messageId }) => messageId),
  ])
  let left = rows.sort((a, b) => a.id - b.id)
  return (organization, facts) =>
    handedOver(facts).flatMap(({ provider, messageId }) => {
      const concerns = (row: UnmatchedRow): boolean =>
        row.provider === provider &&
        row.message_id === messageId &&
        (row.organization === null || row.organization === organization)
      const matching = left.filter(concerns)
      left = left.filter((row) => !concerns(row))
      return matching.map(({ fact }) => JSON.parse(fact) as Fact)
    })
}

/** Stores receipts until their hand-over is settled. */
export async function keepUnmatched(
  tx: Transaction,
  receipts: readonly { readonly hash: string; readonly receipt: MessageReport }[],
): Promise<void> {
  if (receipts.length === 0) return
  await tx.rows(INSERT, [
    tx.now,
    receipts.map(({ hash }) => hash),
    receipts.map(({ receipt }) => receipt.organizationId),
    receipts.map(({ receipt }) => receipt.provider),
    receipts.map(({ receipt }) => receipt.fact.providerMessageId ?? null),
    receipts.map(({ receipt }) => JSON.stringify(receipt.fact)),
  ])
}
