import { readdirSync, readFileSync } from 'node:fs'
import { createNotifier, type Notifier, type Queue } from 'carillon'
import { postgres } from 'carillon/postgres'
import pg from 'pg'
import { startPostgres } from '../../examples/servers/postgres.ts'
import { mails } from './notifiers.ts'

/** A dedicated server, which waits for the disk like a production server, and a pool. */
export interface Database {
  readonly url: string
  readonly pool: pg.Pool
  /** Processor time of the server so far, in microseconds. NaN: not on Linux. */
  cpu(): number
}

const MOST_IN_BATCH = 10_000
const MICROS_PER_TICK = 10_000

/** Tables that sends and deliveries write. */
const WRITTEN = ['notifications', 'jobs', 'states', 'events', 'handovers'] as const

/** Runs `work` with a temporary server and a migrated schema. */
export async function withPostgres(work: (database: Database) => Promise<void>): Promise<void> {
  const server = await startPostgres(['fsync = on', 'shared_buffers = 256MB', 'max_wal_size = 4GB'])
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  try {
    const storage = postgres({ connectionString: server.url, listen: false })
    await storage.start()
    await storage.stop()
    const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const postmaster = statOf(rows[0]?.pid ?? 0)?.parent ?? 0
    await work({ url: server.url, pool, cpu: () => cpuOf(postmaster) })
  } finally {
    await pool.end()
    await server.remove()
  }
}

/** Processor time of a process, its children, and its ended children. */
function cpuOf(parent: number): number {
  const own = statOf(parent)
  if (own === undefined) return Number.NaN
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? [])
    .filter((stat) => stat.parent === parent)
  return children.reduce((sum, { ticks }) => sum + ticks, own.ticks + own.ended) * MICROS_PER_TICK
}

interface Stat {
  readonly parent: number
  readonly ticks: number
  /** Of ended children. */
  readonly ended: number
}

/** See proc(5). */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const at = (place: number): number => fields[place - 3] ?? 0
    return { parent: at(4), ticks: at(14) + at(15), ended: at(16) + at(17) }
  } catch {
    return undefined
  }
}

/** A notifier on the server with a no-op provider, not started. */
export function notifierOn(
  { url }: Database,
  maxConcurrent: number,
  { schema = 'carillon', queue }: { readonly schema?: string; readonly queue?: Queue | undefined } = {},
): Notifier {
  return createNotifier({
    storage: postgres({ connectionString: url, schema }),
    queue,
    channels: {
      email: { name: 'none', maxConcurrent, send: async () => ({ kind: 'accepted' }) },
    },
  })
}

/** Removes all notifications with their related rows. */
export async function empty({ pool }: Database): Promise<void> {
  await pool.query(`TRUNCATE ${WRITTEN.map((table) => `carillon.${table}`).join(', ')}`)
}

/** Saves `count` accepted mails, from which {@link refill} restores the backlog. */
export async function keepBacklog(database: Database, count: number): Promise<void> {
  await empty(database)
  const notifier = notifierOn(database, 1)
  await notifier.start({ deliver: false })
  for (let left = count; left > 0; left -= MOST_IN_BATCH) {
    await notifier.sendBatch(mails(Math.min(left, MOST_IN_BATCH)))
  }
  await notifier.stop()
  await database.pool.query(`
    DROP TABLE IF EXISTS kept_notifications, kept_jobs;
    CREATE TABLE kept_notifications AS TABLE carillon.notifications;
    CREATE TABLE kept_jobs AS TABLE carillon.jobs`)
}

/** Empties the tables and restores the saved backlog. */
export async function refill(database: Database): Promise<void> {
  await empty(database)
  await database.pool.query(`
    INSERT INTO carillon.notifications SELECT * FROM kept_notifications;
    INSERT INTO carillon.jobs SELECT * FROM kept_jobs`)
  await database.pool.query('CHECKPOINT')
}
