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

const FILL = `
  WITH made AS MATERIALIZED (
    SELECT number, nextval('carillon.notification_numbers') AS seq,
      floor($2::float8 + number * ($3::float8 / $4))::bigint AS at
    FROM generate_series(1, $1::bigint) AS number),
  named AS MATERIALIZED (
    SELECT *, 'notif_' || lpad(at::text, 13, '0') || lpad(seq::text, 16, '0') AS id FROM made),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, high, id, organization, channel, lane, recipient, content)
    SELECT seq, at, false, id, 'org_default', 'email', 'email', 'customer-' || number || '@example.com', $5 FROM named),
  standing AS (
    INSERT INTO carillon.states (notification, status, sequence, published, fold, provider, organization, created_at, seq)
    SELECT id, 'sent', 2, 1, '{"own":10,"handovers":{"none#1":[30,0]}}', 'none', 'org_default', at, seq FROM named)
  INSERT INTO carillon.events (notification, sequence, seq, organization, status, fact, at)
  SELECT id, 2, seq, 'org_default', 'sent', '{"type":"sent","provider":"none","attempt":1,"durationMs":12}', at FROM named`

const FILL_AT_ONCE = 100_000
const THREE_WEEKS_MS = 20 * 86_400_000

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

/** Stores notifications of the last three weeks in SQL, each sent and with one event, and gathers statistics. */
export async function fill({ pool }: Database, schema: string, count: number): Promise<void> {
  const [mail] = mails(1)
  const content = JSON.stringify({ subject: mail?.subject, body: mail?.body })
  const from = Date.now() - THREE_WEEKS_MS
  for (let left = count; left > 0; left -= FILL_AT_ONCE) {
    const part = Math.min(left, FILL_AT_ONCE)
    const text = FILL.replaceAll('carillon.', `${schema}.`)
    await pool.query(text, [part, from, THREE_WEEKS_MS, part, content])
  }
  await pool.query('VACUUM ANALYZE')
  await pool.query('CHECKPOINT')
}
