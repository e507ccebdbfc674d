import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MAX_SCANNED } from '../../adapters/storage/scan.ts'
import {
  type SqliteDatabase,
  type SqliteDriver,
  type SqliteTransaction,
  sqlite,
} from '../../adapters/storage/sqlite/index.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Joined } from '../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import type {
  JoinedCall,
  SecondDoor,
  StorageHarness,
  StoredDeliveryRow,
  StoredDependents,
  StoredEventRow,
  StoredIdempotencyRow,
  StoredJobRow,
  StoredNotificationRow,
} from '../../src/testing/storage/harness.ts'

/** A directory of its own for a database. */
export function temporaryFile(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-'))
  return {
    file: join(directory, 'notifications.db'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** @param clock replaces the one that `advance` moves */
export async function sqliteHarness(
  clock?: Pick<Clock, 'now'>,
  driver: SqliteDriver = DatabaseSync,
): Promise<StorageHarness> {
  const { file, remove } = temporaryFile()
  let now = Date.now()
  let failing = false
  const failed = (): boolean => {
    const now = failing
    failing = false
    return now
  }
  const open = () =>
    sqlite({ file, driver: failingCommits(driver, failed), clock: clock ?? { now: () => now } })
  const storage = open()
  await storage.start()
  const database = new DatabaseSync(file)
  return {
    ...harnessOf(storage, database),
    another: open,
    dump() {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
      return [file, `${file}-wal`].map((one) => readFileSync(one, 'latin1')).join('')
    },
    failNextCommit() {
      failing = true
      return () => !failing
    },
    advance(ms) {
      now += ms
    },
    close() {
      database.close()
      remove()
    },
  }
}

/** Nobody else can open what is in memory, so the tests read on the storage's own connection. */
export async function inMemoryHarness(): Promise<StorageHarness> {
  const opened: DatabaseSync[] = []
  class Kept extends DatabaseSync {
    constructor(file: string) {
      super(file)
      opened.push(this)
    }
  }
  let now = Date.now()
  const storage = sqlite({ file: ':memory:', driver: Kept, clock: { now: () => now } })
  await storage.start()
  const [database] = opened
  if (database === undefined) throw new Error('the storage has opened nothing')
  return {
    ...harnessOf(storage, database),
    dump: () =>
      JSON.stringify(tablesOf(database).map((name) => database.prepare(`SELECT * FROM "${name}"`).all())),
    advance(ms) {
      now += ms
    },
  }
}

function tablesOf(database: DatabaseSync): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  return rows.map(({ name }) => String(name))
}

function harnessOf<Database extends SqliteDatabase>(
  storage: Storage<SqliteTransaction<Database>>,
  database: DatabaseSync,
): Omit<StorageHarness, 'advance'> {
  database.exec('CREATE TABLE callers_own (row TEXT)')
  const within = async <Answer>(
    call: JoinedCall<Answer>,
    write: SqliteTransaction<Database>,
  ): Promise<Joined<Answer>> => {
    const transaction = await storage.join?.(write)
    if (transaction === undefined) throw new Error('join is missing')
    return call(transaction)
  }
  const insert = (handle: SqliteDatabase, row: string): unknown =>
    handle.prepare('INSERT INTO callers_own VALUES (?)').run(row)
  return {
    storage,
    examines: MAX_SCANNED,
    transactions: {
      commit: (call, row) => within(call, (handle) => void insert(handle, row)),
      async rollBack(call, row) {
        const undone = new Error('undone')
        const failure = await within(call, (handle) => {
          insert(handle, row)
          throw undone
        }).catch((error: unknown) => error)
        if (failure !== undone) throw new Error('rolled back for another reason', { cause: failure })
      },
      async rows() {
        return database
          .prepare('SELECT row FROM callers_own')
          .all()
          .map(({ row }) => String(row))
      },
    },
    secondDoor: sqliteSecondDoor(database),
  }
}

/** A driver whose commits fail, if told to, as those on a broken disk do. */
function failingCommits(driver: SqliteDriver, fails: () => boolean): SqliteDriver {
  return class extends driver {
    override prepare(sql: string) {
      const statement = super.prepare(sql)
      if (sql !== 'COMMIT') return statement
      return {
        all: () => statement.all(),
        run() {
          if (fails()) throw Object.assign(new Error('disk I/O error'), { errcode: 10, code: 'SQLITE_IOERR' })
          return statement.run()
        },
      }
    }
  }
}

/** Reads the tables on a connection of its own. */
export function sqliteSecondDoor(database: DatabaseSync): SecondDoor {
  const all = <Row>(sql: string): Row[] => database.prepare(sql).all() as unknown as Row[]
  return {
    async notifications() {
      return all<StoredNotificationRow>(
        `SELECT id, organization AS organizationId,
           coalesce(
             (SELECT status FROM carillon_events WHERE notification = n.seq ORDER BY sequence DESC LIMIT 1),
             iif(send_at > created_at, 'scheduled', 'queued')) AS status
         FROM carillon_notifications AS n`,
      )
    },
    async jobs() {
      return all<StoredJobRow & { readonly at: 0 | 1 | 2 | 3 }>(
        'SELECT CAST(id AS TEXT) AS id, lane, organization AS organizationId, state AS at, attempts FROM carillon_jobs',
      ).map((row) => ({ ...row, state: (['ready', 'waiting', 'leased', 'recovered'] as const)[row.at] }))
    },
    async events() {
      return all<StoredEventRow>(
        `SELECT n.id AS notificationId, e.sequence, json_extract(e.fact, '$.type') AS type, e.status
         FROM carillon_events AS e JOIN carillon_notifications AS n ON n.seq = e.notification
         ORDER BY e.notification, e.sequence`,
      )
    },
    async deliveries() {
      return all<StoredDeliveryRow>(
        `SELECT event_id AS eventId, endpoint AS endpointId,
           iif(state = 'pending' AND NOT EXISTS (SELECT 1 FROM carillon_jobs WHERE id = 2 * d.id + 1),
             'delivered', state) AS state,
           (SELECT count(*) FROM carillon_delivery_attempts WHERE delivery = d.id) AS attempts
         FROM carillon_deliveries AS d`,
      )
    },
    async dependents() {
      const [counts] = all<StoredDependents>(
        `SELECT (SELECT count(*) FROM carillon_handovers) AS handovers,
           (SELECT count(*) FROM carillon_delivery_attempts) AS deliveryAttempts,
           (SELECT count(*) FROM carillon_receipts) AS receipts,
           (SELECT count(*) FROM carillon_unmatched_receipts) AS unmatchedReceipts`,
      )
      if (counts === undefined) throw new Error('no counts')
      return { ...counts }
    },
    async owned(id) {
      const tables = all<{ name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'carillon_%'",
      )
      const counts = tables.flatMap(({ name }) => {
        const columns = all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`).map(
          (row) => row.name,
        )
        const kind = name.slice('carillon_'.length)
        const where = ownedBy(name, columns)
        if (where === null) return []
        const count = database
          .prepare(
            `WITH given AS (SELECT ? AS id) SELECT count(*) AS count FROM ${name} WHERE ${where.replaceAll('$1', '(SELECT id FROM given)')}`,
          )
          .get(id)?.count
        return count === 0 ? [] : [[kind, Number(count)] as const]
      })
      return Object.fromEntries(counts)
    },
    async idempotency() {
      return all<StoredIdempotencyRow>('SELECT fingerprint, admitted FROM carillon_idempotency').map(
        (row) => ({
          ...row,
        }),
      )
    },
  }
}

/** The condition for the rows of an organization `$1`. Null: no column of the table names their organization. */
export function ownedBy(table: string, columns: readonly string[]): string | null {
  if (table.endsWith('_organizations')) return 'id = $1'
  return columns.includes('organization') ? 'organization = $1' : null
}
