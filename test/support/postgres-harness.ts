import pg from 'pg'
import { resolveOptions } from '../../adapters/storage/postgres/options.ts'
import { createStorage } from '../../adapters/storage/postgres/storage.ts'
import type { PostgresTransaction } from '../../adapters/storage/postgres/transaction-handles.ts'
import { MAX_SCANNED } from '../../adapters/storage/scan.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Joined } from '../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import type {
  JoinedCall,
  OpenTransaction,
  SecondDoor,
  StorageHarness,
  StoredDeliveryRow,
  StoredDependents,
  StoredEventRow,
  StoredIdempotencyRow,
  StoredJobRow,
  StoredNotificationRow,
} from '../../src/testing/storage/harness.ts'
import { sharedPostgres, uniqueSchema } from './postgres.ts'
import { ownedBy } from './sqlite-harness.ts'
import { holdsText, tappedPool } from './tapped-pool.ts'

/** Of this process, like the pools: making them takes longer than most tests. */
const SCHEMA = uniqueSchema()
const pools = new Map<string, pg.Pool>()

function poolOf(url: string): pg.Pool {
  const known = pools.get(url)
  if (known !== undefined) return known
  const pool = new pg.Pool({ connectionString: url, max: 16 })
  // Servers end before the pools do.
  pool.on('error', () => {})
  pools.set(url, pool)
  return pool
}

/**
 * A storage in a schema that the tests of one file share, one after another: it is emptied behind each.
 *
 * @param where `clock` replaces the one that `advance` moves; the database's own is used by the integration tests.
 *   `change` makes another storage of each instance, for example one with a fault
 */
export async function postgresHarness({
  clock,
  url,
  change = (storage) => storage,
}: {
  readonly clock?: Pick<Clock, 'now'>
  readonly url?: string
  readonly change?: (storage: Storage<PostgresTransaction>, schema: string) => Storage<PostgresTransaction>
} = {}): Promise<StorageHarness> {
  const schema = SCHEMA
  const pool = poolOf(url ?? (await sharedPostgres()))
  let now = Date.now()
  const commits = wrongCommits(pool)
  const open = () =>
    change(
      createStorage(resolveOptions({ pool: commits.pool, schema }), () => clock?.now() ?? now),
      schema,
    )
  const storage = open()
  await storage.start()
  await pool.query(`CREATE TABLE IF NOT EXISTS "${schema}".callers_own (row text)`)
  async function begin(row: string): Promise<OpenTransaction> {
    const client = await pool.connect()
    const end = (statement: string) => client.query(statement).finally(() => client.release())
    try {
      await client.query('BEGIN')
      await client.query(`INSERT INTO "${schema}".callers_own VALUES ($1)`, [row])
      const joined = await storage.join?.(client)
      if (joined === undefined) throw new Error('join is missing')
      return {
        joined,
        commit: async () => void (await end('COMMIT')),
        rollBack: async () => void (await end('ROLLBACK')),
      }
    } catch (error) {
      await end('ROLLBACK')
      throw error
    }
  }
  async function within<Answer>(
    call: JoinedCall<Answer>,
    row: string,
    end: 'commit' | 'rollBack',
  ): Promise<Joined<Answer>> {
    const transaction = await begin(row)
    try {
      return await call(transaction.joined)
    } finally {
      await transaction[end]()
    }
  }
  return {
    storage,
    advance(ms) {
      now += ms
    },
    another: open,
    async dump() {
      const { rows } = await pool.query<{ name: string }>(
        "SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'",
        [`"${schema}"`],
      )
      const read = async ({ name }: { readonly name: string }): Promise<string> => {
        const found = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`)
        return found.rows.map(({ row }) => row).join('\n')
      }
      return (await Promise.all(rows.map(read))).join('\n')
    },
    examines: MAX_SCANNED,
    failNextCommit: () => commits.next('fails'),
    loseCommitAnswer: () => commits.next('loses its answer'),
    transactions: {
      begin,
      commit: (call, row) => within(call, row, 'commit'),
      async rollBack(call, row) {
        const { committed } = await within(call, row, 'rollBack')
        if (await committed) throw new Error('told to be committed')
      },
      async rows() {
        const { rows } = await pool.query<{ row: string }>(`SELECT row FROM "${schema}".callers_own`)
        return rows.map(({ row }) => row)
      },
    },
    secondDoor: postgresSecondDoor(pool, schema),
    close: () => emptyAll(pool, schema),
  }
}

/** A pool whose next commit fails, or is stored and not answered, if told to. */
function wrongCommits(real: pg.Pool) {
  let wrong: 'fails' | 'loses its answer' | undefined
  return {
    next(way: typeof wrong): () => boolean {
      wrong = way
      return () => wrong === undefined
    },
    pool: tappedPool(real, async (client, query) => {
      // Starts of attempts are one statement, which is a transaction of its own.
      const alone = holdsText(query, 'start_1(')
      if (wrong === undefined || !(alone || holdsText(query, 'COMMIT'))) return client.query(query)
      if (wrong === 'loses its answer') await client.query(query)
      else if (!alone) await client.query('ROLLBACK')
      wrong = undefined
      throw new Error('Connection terminated unexpectedly')
    }),
  }
}

/** Empties all tables except that of the schema's version. */
async function emptyAll(pool: pg.Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ statement: string }>(
    `SELECT 'DELETE FROM ' || oid::regclass AS statement FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> 'schema_version'`,
    [`"${schema}"`],
  )
  await pool.query(rows.map(({ statement }) => statement).join(';'))
}

/** Reads the tables on a connection of its own. */
export function postgresSecondDoor(pool: pg.Pool, schema: string): SecondDoor {
  const all = async <Row>(sql: string): Promise<Row[]> =>
    (await pool.query(sql.replaceAll('carillon.', `"${schema}".`))).rows as Row[]
  return {
    async notifications() {
      return all<StoredNotificationRow>(
        `SELECT n.id, n.organization AS "organizationId",
           coalesce(s.status, CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END) AS status
         FROM carillon.notifications AS n LEFT JOIN carillon.states AS s ON s.notification = n.id`,
      )
    },
    async jobs() {
      const rows = await all<StoredJobRow & { readonly at: 0 | 1 | 2 | 3 }>(
        `SELECT id::text AS id, lane, organization AS "organizationId", state AS at, attempts FROM carillon.jobs`,
      )
      return rows.map((row) => ({
        ...row,
        state: (['ready', 'waiting', 'leased', 'recovered'] as const)[row.at],
      }))
    },
    async events() {
      return all<StoredEventRow>(
        `SELECT notification AS "notificationId", sequence, fact::json ->> 'type' AS type, status
         FROM carillon.events ORDER BY seq, sequence`,
      )
    },
    async deliveries() {
      return all<StoredDeliveryRow>(
        `SELECT event_id AS "eventId", endpoint AS "endpointId", state,
           (SELECT count(*)::integer FROM carillon.delivery_attempts AS a
            WHERE a.event_id = d.event_id AND a.endpoint = d.endpoint) AS attempts
         FROM carillon.deliveries AS d`,
      )
    },
    async owned(id) {
      const { rows } = await pool.query<{ name: string; columns: string[] }>(
        `SELECT c.relname AS name, array_agg(a.attname::text) AS columns FROM pg_class AS c
         JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition GROUP BY 1`,
        [`"${schema}"`],
      )
      const counts: [string, number][] = []
      for (const { name, columns } of rows) {
        const where = ownedBy(name, columns)
        if (where === null) continue
        const sql = `SELECT count(*)::integer AS count FROM "${schema}"."${name}" WHERE ${where}`
        const [row] = (await pool.query<{ count: number }>(sql, [id])).rows
        if (row === undefined || row.count === 0) continue
        // A second after an accept, its additions are folded into one row.
        counts.push(name.startsWith('usage') ? ['usage', 1] : [name, row.count])
      }
      return Object.fromEntries(counts)
    },
    async idempotency() {
      return all<StoredIdempotencyRow>('SELECT fingerprint, admitted FROM carillon.idempotency')
    },
    async dependents() {
      const [counts] = await all<StoredDependents>(
        `SELECT (SELECT count(*)::integer FROM carillon.handovers) AS handovers,
           (SELECT count(*)::integer FROM carillon.delivery_attempts) AS "deliveryAttempts",
           (SELECT count(*)::integer FROM carillon.receipts) AS receipts,
           (SELECT count(*)::integer FROM carillon.unmatched_receipts) AS "unmatchedReceipts"`,
      )
      if (counts === undefined) throw new Error('no counts')
      return counts
    },
  }
}
