import type { Connection, Runner } from './connection.ts'
import { isDataError, isForbidden, isHeld } from './errors.ts'
import { quoted } from './literals.ts'
import { nowOf } from './now.ts'

/** Partitioned tables: prefix of their keys, and fill factor. */
const TABLES = [
  { table: 'notifications', prefix: 'notif_', fillfactor: 100 },
  { table: 'metadata', prefix: 'notif_', fillfactor: 100 },
  { table: 'addresses', prefix: 'notif_', fillfactor: 100 },
  { table: 'named_uploads', prefix: 'notif_', fillfactor: 100 },
  { table: 'copies', prefix: 'notif_', fillfactor: 100 },
  { table: 'states', prefix: 'notif_', fillfactor: 80 },
  { table: 'events', prefix: 'notif_', fillfactor: 100 },
  { table: 'handovers', prefix: 'notif_', fillfactor: 100 },
  { table: 'deliveries', prefix: 'evt_', fillfactor: 80 },
  { table: 'delivery_attempts', prefix: 'evt_', fillfactor: 100 },
] as const

/** Attaching locks the default partition, and later statements queue behind it. */
const LOCK_WITHIN = "SET LOCAL lock_timeout = '500ms'"

/** Months created in advance. */
const AHEAD = 2

const SELECT_EXISTING = `
  SELECT c.relname AS name FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = c.relnamespace
  WHERE s.nspname = $1 AND c.relname = ANY ($2::text[])`

interface Partition {
  readonly name: string
  readonly table: string
  readonly fillfactor: number
  readonly from: string
  readonly until: string
}

/**
 * Creates missing partitions for this month and the next two, without blocking writes. A notification belongs to the
 * month in its id, with all its related rows. The default partition takes rows without a partition, so writes never
 * wait for this, and a role that cannot create tables can start.
 */
export async function createPartitions(connection: Connection): Promise<void> {
  const missing = await missingOf(connection, connection.schema, partitionsFrom(await nowOf(connection)))
  if (missing.length === 0) return
  try {
    await create(connection, missing)
  } catch (error) {
    // A long read holds the table. The next run retries: months are created long before they begin.
    if (isHeld(error)) return
    if (isForbidden(error)) {
      process.emitWarning(
        `The role cannot create the partitions of the next months in the schema "${connection.schema}". Their rows go to ` +
          'the default partition and are removed one by one. Once a month, start a process whose role owns the schema.',
        { type: 'CarillonStorageWarning' },
      )
      return
    }
    if (!isDataError(error)) throw error
    for (const partition of missing) await createAlone(connection, partition)
  }
}

async function createAlone(connection: Connection, partition: Partition): Promise<void> {
  try {
    await create(connection, [partition])
  } catch (error) {
    // The default partition already has rows of this month, so the whole month stays there.
    if (!isDataError(error) && !isHeld(error)) throw error
  }
}

function create(connection: Connection, partitions: readonly Partition[]): Promise<void> {
  return connection.transaction(async (tx) => {
    await lockSchema(tx, connection.schema)
    await tx.rows(LOCK_WITHIN)
    const missing = await missingOf(tx, connection.schema, partitions)
    await tx.script(missing.flatMap(attach).join(';'))
  })
}

async function missingOf(runner: Runner, schema: string, wanted: readonly Partition[]): Promise<Partition[]> {
  const names = wanted.map(({ name }) => name)
  const found = new Set(await existing(runner, schema, names))
  return wanted.filter(({ name }) => !found.has(name))
}

/** The tables of these names that exist. */
export async function existing(runner: Runner, schema: string, names: readonly string[]): Promise<string[]> {
  const rows = await runner.rows<{ name: string }>(SELECT_EXISTING, [schema, names])
  return rows.map(({ name }) => name)
}

/**
 * Created separately and then attached, which does not block writes: the scan of the default partition finds it empty.
 */
function attach({ name, table, fillfactor, from, until }: Partition): string[] {
  const own = `carillon.${quoted(name)}`
  return [
    `CREATE TABLE ${own} (LIKE carillon.${table} INCLUDING ALL) WITH (fillfactor = ${fillfactor})`,
    `ALTER TABLE carillon.${table} ATTACH PARTITION ${own} FOR VALUES FROM ('${from}') TO ('${until}')`,
  ]
}

/** A month with its own partitions. */
export interface Month {
  /** Suffix of its partitions' names. */
  readonly name: string
  /** Begin of the next month; epoch milliseconds. */
  readonly endsAt: number
  /** Key range of its notifications: first key, first key of the next month. */
  readonly notifications: readonly [from: string, until: string]
  /** Key range of its events. */
  readonly events: readonly [from: string, until: string]
}

/** The month of a partition of `notifications`. Null: none, as for the default partition. */
export function monthOf(partition: string): Month | null {
  const [, year, month] = /^notifications_(\d{4})_(\d{2})$/.exec(partition) ?? []
  if (year === undefined || month === undefined) return null
  const bounds = [Number(month) - 1, Number(month)].map((one) => Date.UTC(Number(year), one, 1))
  const [begins = 0, endsAt = 0] = bounds
  return {
    name: `${year}_${month}`,
    endsAt,
    notifications: [boundAt('notif_', begins), boundAt('notif_', endsAt)],
    events: [boundAt('evt_', begins), boundAt('evt_', endsAt)],
  }
}

/** Names of a month's partitions in every table. Some may not exist. */
export function partitionNames({ name }: Month): string[] {
  return TABLES.map(({ table }) => `${table}_${name}`)
}

function partitionsFrom(now: number): Partition[] {
  const date = new Date(now)
  const startOf = (month: number): number => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + month, 1)
  return Array.from({ length: AHEAD + 1 }, (_, month) => month).flatMap((month) =>
    TABLES.map(({ table, prefix, fillfactor }) => ({
      name: `${table}_${new Date(startOf(month)).toISOString().slice(0, 7).replace('-', '_')}`,
      table,
      fillfactor,
      from: boundAt(prefix, startOf(month)),
      until: boundAt(prefix, startOf(month + 1)),
    })),
  )
}

/** The first key at a time: ids begin with 13 digits of milliseconds. */
function boundAt(prefix: string, time: number): string {
  return prefix + String(time).padStart(13, '0')
}

/** Serializes schema changes. */
export async function lockSchema(tx: Runner, schema: string): Promise<void> {
  await tx.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', [`carillon ${schema}`])
}
