import type { FollowingWrite, KeepingInsert } from '../../../src/core/ports/storage/records.ts'
import { organizationKind } from '../../../src/core/tenancy/organization.ts'
import { recordColumns } from '../rows/record.ts'
import type { Transaction } from './connection.ts'
import { tableOf } from './record-tables.ts'
import { compare, remove } from './write-records.ts'

/**
 * Skips taken ids and keys, and organizations that are gone or being deleted. It needs no lock on the organization: a
 * deletion waits for the transactions that began before it.
 */
const insertInto = (table: string): string => `
  INSERT INTO ${table} (created_at, id, organization, key, list, version, value)
  SELECT $1::bigint, g.id, g.organization, g.key, g.list, g.version, g.value
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[])
    WITH ORDINALITY AS g (id, organization, key, list, version, value, number)
  WHERE g.organization = '' OR EXISTS (
    SELECT 1 FROM ${tableOf(organizationKind)} AS o WHERE o.id = g.organization AND o.list = 'open')
  ORDER BY g.number
  ON CONFLICT DO NOTHING`

/** Writes the records that follow from facts and consents: for one id in the given order. */
export async function followWrites(tx: Transaction, writes: readonly FollowingWrite[]): Promise<void> {
  let inserts: KeepingInsert[] = []
  // In a fixed order, so that two sets cannot deadlock. The sort is stable.
  for (const write of writes.toSorted(compare)) {
    if (write.do === 'insert' && (inserts[0]?.kind ?? write.kind) === write.kind) {
      inserts.push(write)
      continue
    }
    await insertAll(tx, inserts)
    inserts = []
    if (write.do === 'insert') inserts.push(write)
    else await remove(tx, write)
  }
  await insertAll(tx, inserts)
}

async function insertAll(tx: Transaction, inserts: readonly KeepingInsert[]): Promise<void> {
  const [first] = inserts
  if (first === undefined) return
  const rows = inserts.map(({ kind, id, organizationId, value }) =>
    recordColumns(kind, id, organizationId, value),
  )
  await tx.rows(insertInto(tableOf(first.kind)), [
    tx.now,
    rows.map(({ id }) => id),
    rows.map(({ organization }) => organization),
    rows.map(({ key }) => key),
    rows.map(({ list }) => list),
    rows.map(({ version }) => version),
    rows.map(({ value }) => value),
  ])
}
