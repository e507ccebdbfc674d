import type { SuppressionReason } from '../../../src/domain/suppression.ts'
import type { ConsentReport } from '../../../src/ports/storage/receipts.ts'
import type {
  Suppression,
  SuppressionKey,
  SuppressionRepository,
} from '../../../src/ports/storage/suppressions.ts'
import { type SuppressionRow, toSuppression } from '../rows/suppression.ts'
import { type Connection, NOW, type Transaction } from './connection.ts'
import { dataError, isDataError } from './errors.ts'
import { hashOf } from './hash.ts'
import { requireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'

/** Rewrites an existing row unchanged: that waits for a transaction that adds or removes it, and returns it. */
const ADD = `
  INSERT INTO carillon.suppressions AS s (created_at, hash, organization, channel, address, reason, source)
  VALUES (${NOW}, decode($2, 'hex'), $3, $4, $5, $6, $7)
  ON CONFLICT (hash) DO UPDATE SET reason = s.reason RETURNING *`

const PROVE_ADDED = "SELECT 1 FROM carillon.suppressions WHERE hash = decode($1, 'hex')"

/** In a fixed order, so that two sets cannot deadlock. Skips deleted organizations. */
const ADD_SET = `
  INSERT INTO carillon.suppressions (created_at, hash, organization, channel, address, reason, source)
  SELECT $1::bigint, decode(g.hash, 'hex'), g.organization, g.channel, g.address, g.reason, g.source
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS g (hash, organization, channel, address, reason, source)
  WHERE EXISTS (SELECT 1 FROM carillon.organizations AS o WHERE o.id = g.organization)
  ORDER BY g.hash
  ON CONFLICT (hash) DO NOTHING`

const DELETE = "DELETE FROM carillon.suppressions WHERE hash = decode($1, 'hex') RETURNING seq"

/** An opt-in reverses an opt-out only, not a bounce or complaint. */
const DELETE_OPT_OUT =
  "DELETE FROM carillon.suppressions WHERE hash = decode($1, 'hex') AND reason = 'unsubscribe'"

const LIST = `
  SELECT * FROM carillon.suppressions
  WHERE organization = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3 OFFSET $4`

const LIST_CHANNEL = `
  SELECT * FROM carillon.suppressions
  WHERE organization = $1 AND channel = $5 AND seq < $2 ORDER BY seq DESC LIMIT $3 OFFSET $4`

const MATCH = 'SELECT o_hash AS hash, o_reason AS reason FROM carillon.match_suppressions_1($1::text[])'

export function createSuppressions(connection: Connection): SuppressionRepository {
  async function add(tx: Transaction, entry: NewSuppression): Promise<Suppression> {
    const { organizationId, channel, address, reason, source } = entry
    await requireOrganization(tx, organizationId)
    const named = [organizationId, channel, address, reason, source]
    const hash = hashOfKey(entry)
    const values = [connection.time(), hash, ...named]
    const [row] = await tx.rows<SuppressionRow>(ADD, values)
    if (row === undefined) throw new Error('the insert returned no row')
    tx.prove(PROVE_ADDED, [hash])
    return toSuppression(row)
  }

  return {
    async add(entry) {
      try {
        return await connection.transaction((tx) => add(tx, entry))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async remove(organizationId, channel, address) {
      const removed = await connection.rows(DELETE, [hashOfKey({ organizationId, channel, address })])
      return removed.length === 1
    },
    list(organizationId, { channel }, page) {
      return pageBySeq(
        page,
        (...values) =>
          channel === undefined
            ? connection.rows<SuppressionRow>(LIST, [organizationId, ...values])
            : connection.rows<SuppressionRow>(LIST_CHANNEL, [organizationId, ...values, channel]),
        toSuppression,
      )
    },
    async match(keys) {
      if (keys.length === 0) return []
      const wanted = keys.map(hashOfKey)
      const rows = await connection.rows<{ hash: string; reason: SuppressionReason }>(MATCH, [wanted])
      const found = new Map(rows.map(({ hash, reason }) => [hash, reason]))
      return wanted.map((hash) => found.get(hash) ?? null)
    },
  }
}

type NewSuppression = Omit<Suppression, 'createdAt'>

export type Consent = ConsentReport['consent']

/** Applies consents inside a transaction: for one address in the given order, otherwise in the order of hashes. */
export async function applyConsents(tx: Transaction, consents: readonly Consent[]): Promise<void> {
  const hashed = consents.map((consent) => ({
    consent,
    hash: hashOfKey(consent.kind === 'suppress' ? consent.entry : consent.key),
  }))
  // In a fixed order, so that two sets cannot deadlock.
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : Number(a.hash > b.hash)))
  let added = new Map<string, NewSuppression>()
  for (const { consent, hash } of hashed) {
    if (consent.kind === 'suppress') {
      if (!added.has(hash)) added.set(hash, consent.entry)
      continue
    }
    await addSuppressions(tx, added)
    added = new Map()
    await tx.rows(DELETE_OPT_OUT, [hash])
  }
  await addSuppressions(tx, added)
}

/** Existing entries stay. */
async function addSuppressions(tx: Transaction, byHash: ReadonlyMap<string, NewSuppression>): Promise<void> {
  if (byHash.size === 0) return
  const added = [...byHash.values()]
  await tx.rows(ADD_SET, [
    tx.now,
    [...byHash.keys()],
    added.map(({ organizationId }) => organizationId),
    added.map(({ channel }) => channel),
    added.map(({ address }) => address),
    added.map(({ reason }) => reason),
    added.map(({ source }) => source),
  ])
}

/** The address comes last: only it may contain any character. */
function hashOfKey({ organizationId, channel, address }: SuppressionKey): string {
  return hashOf(organizationId, channel, address)
}
