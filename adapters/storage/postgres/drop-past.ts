import type { Connection, Transaction } from './connection.ts'
import { isForbidden, isHeldOrGone } from './errors.ts'
import { quoted } from './literals.ts'
import { nowOf } from './now.ts'
import { existing, lockSchema, type Month, monthOf, partitionNames } from './partitions.ts'

/**
 * Short, because DROP locks the table and later statements queue behind it. `DETACH … CONCURRENTLY` would not lock, but
 * PostgreSQL refuses it for tables with a default partition.
 */
const LOCK_WITHIN = "SET LOCAL lock_timeout = '100ms'"

const SELECT_PARTITIONS = `
  SELECT c.relname AS name FROM pg_inherits AS i
  JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS p ON p.oid = i.inhparent
  JOIN pg_namespace AS s ON s.oid = p.relnamespace
  WHERE s.nspname = $1 AND p.relname = 'notifications' ORDER BY c.relname`

/** Any job of notifications or events. Jobs are few: they exist only for unfinished work. */
const SELECT_JOB = `
  SELECT EXISTS (SELECT 1 FROM carillon.jobs
    WHERE subject >= $1 AND subject < $2 OR subject >= $3 AND subject < $4) AS found`

/** Slack between the processes' clocks, which ids come from, and the database's, which stored times come from. */
const SLACK_MS = 86_400_000

/**
 * Drops the partitions of past months. A month goes if its partitions are empty, or if everything in them is older than
 * every retention and without a job. Locked partitions stay until the next run.
 *
 * @param longestMs the longest retention; null: forever
 * @returns number of dropped partitions
 */
export async function dropPast(connection: Connection, longestMs: number | null): Promise<number> {
  const now = await nowOf(connection)
  const partitions = await connection.rows<{ name: string }>(SELECT_PARTITIONS, [connection.schema])
  const past = partitions.flatMap(({ name }) => {
    const month = monthOf(name)
    return month !== null && month.endsAt <= now - SLACK_MS ? [month] : []
  })
  let dropped = 0
  for (const month of past) dropped += await dropMonth(connection, month, longestMs)
  return dropped
}

async function dropMonth(connection: Connection, month: Month, longestMs: number | null): Promise<number> {
  try {
    // Most months must stay, which a check without a lock shows.
    if (!(await connection.transaction((tx) => mayGo(tx, connection.schema, month, longestMs)))) return 0
    return await connection.transaction(async (tx) => {
      await tx.rows(LOCK_WITHIN)
      await lockSchema(tx, connection.schema)
      const names = await existing(tx, connection.schema, partitionNames(month))
      const own = names.map((name) => `carillon.${quoted(name)}`).join(', ')
      if (names.length === 0) return 0
      // From here on, rows of the month can be read but not changed.
      await tx.script(`LOCK TABLE ${own} IN EXCLUSIVE MODE`)
      if (!(await mayGo(tx, connection.schema, month, longestMs))) return 0
      await tx.script(`DROP TABLE ${own}`)
      return names.length
    })
  } catch (error) {
    // Another process is dropping the partitions, or this role does not own them.
    if (isHeldOrGone(error) || isForbidden(error)) return 0
    throw error
  }
}

async function mayGo(
  tx: Transaction,
  schema: string,
  month: Month,
  longestMs: number | null,
): Promise<boolean> {
  const names = await existing(tx, schema, partitionNames(month))
  if (!(await anyRow(tx, names))) return true
  if (longestMs === null || month.endsAt + longestMs + SLACK_MS > tx.now) return false
  const [job] = await tx.rows<{ found: boolean }>(SELECT_JOB, [...month.notifications, ...month.events])
  if (job?.found !== false) return false
  return !(await anyEventSince(tx, names, Math.floor(tx.now - longestMs)))
}

async function anyRow(tx: Transaction, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const [row] = await tx.rows(`SELECT 1 FROM carillon.${quoted(name)} LIMIT 1`)
    if (row !== undefined) return true
  }
  return false
}

async function anyEventSince(tx: Transaction, names: readonly string[], since: number): Promise<boolean> {
  const events = names.find((name) => name.startsWith('events_'))
  if (events === undefined) return false
  const [row] = await tx.rows(
    `SELECT 1 FROM carillon.${quoted(events)} WHERE at > $1 ORDER BY at DESC LIMIT 1`,
    [since],
  )
  return row !== undefined
}
