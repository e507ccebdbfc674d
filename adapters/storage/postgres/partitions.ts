import type { Connection, Runner } from './connection.ts'
import { isDataError, isForbidden, isHeld } from './errors.ts'
import { quoted } from './literals.ts'
import { nowOf } from './now.ts'

/** The partitioned tables: what their keys begin with, and how full their pages are made. */
const TABLES = [
  { table: 'notifications', prefix: 'notif_', fillfactor: 100 },
  { table: 'states', prefix: 'notif_', fillfactor: 80 },
  { table: 'events', prefix: 'notif_', fillfactor: 100 },
  { table: 'handovers', prefix: 'notif_', fillfactor: 100 },
  { table: 'deliveries', prefix: 'evt_', fillfactor: 80 },
  { table: 'delivery_attempts', prefix: 'evt_', fillfactor: 100 },
] as const

/** Attaching locks the default partition, and who comes meanwhile waits behind. */
const LOCK_WITHIN = "SET LOCAL lock_timeout = '500ms'"

/** Months that exist before they begin. */
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
 * Creates the partitions of this month and the next two where they are missing, without keeping anybody from writing.
 * A notification belongs to the month in its id, with everything that tells about it. What belongs to no partition is
 * kept in the default one, so that nothing ever waits for this, and a role that may create nothing can start.
 */
export async function createPartitions(connection: Connection): Promise<void> {
  const missing = await missingOf(connection, connection.schema, partitionsFrom(await nowOf(connection)))
  if (missing.length === 0) return
  try {
    await create(connection, missing)
  } catch (error) {
    // Somebody reads a table for long. There is time: months are made long before they begin.
    if (isHeld(error)) return
    if (isForbidden(error)) {
      process.emitWarning(
        `The role may not create the next months' partitions in the schema "${connection.schema}". What belongs to them is ` +
          'kept in the default partition, and removed row by row. Start a process whose role owns the schema once a month.',
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
    // The default partition has rows of this month: they stay there, and so do the others of the month.
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

/** Those of these tables that there are. */
export async function existing(runner: Runner, schema: string, names: readonly string[]): Promise<string[]> {
  const rows = await runner.rows<{ name: string }>(SELECT_EXISTING, [schema, names])
  return rows.map(({ name }) => name)
}

/** Made apart and then attached, which locks nobody out; the default partition, which is looked through, is empty. */
function attach({ name, table, fillfactor, from, until }: Partition): string[] {
  const own = `carillon.${quoted(name)}`
  return [
    `CREATE TABLE ${own} (LIKE carillon.${table} INCLUDING ALL) WITH (fillfactor = ${fillfactor})`,
    `ALTER TABLE carillon.${table} ATTACH PARTITION ${own} FOR VALUES FROM ('${from}') TO ('${until}')`,
  ]
}

/** A month whose partitions are kept apart. */
export interface Month {
  /** The end of its partitions' names. */
  readonly name: string
  /** When the next one begins; epoch milliseconds. */
  readonly endsAt: number
  /** The keys of its notifications: the first, and the first of the next month. */
  readonly notifications: readonly [from: string, until: string]
  /** The keys of its events. */
  readonly events: readonly [from: string, until: string]
}

/** The month of a partition of `notifications`; null: of none, as the default one. */
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

/** The partitions of a month, of every table; some may be missing. */
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

/** The first key of a moment: ids begin with 13 digits of milliseconds. */
function boundAt(prefix: string, time: number): string {
  return prefix + String(time).padStart(13, '0')
}

/** Lets one transaction at a time change the schema. */
export async function lockSchema(tx: Runner, schema: string): Promise<void> {
  await tx.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', [`carillon ${schema}`])
}
