import type { DatabaseSync } from 'node:sqlite'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { assertOptionNames, type OptionRule, objectWith } from '../../../src/core/errors/option-names.ts'
import type { Clock } from '../../../src/core/ports/clock.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { organizationKind } from '../../../src/core/tenancy/organization.ts'
import { createPendingCalls } from '../pending-calls.ts'
import { createSerializer } from '../serialize.ts'
import { createAccept, createQuotaUsed } from './accept.ts'
import { createAddresses } from './addresses.ts'
import { createChanges } from './changes.ts'
import { createClaim } from './claim.ts'
import { type Connection, createConnection } from './connection.ts'
import { createCountJobs } from './count-jobs.ts'
import { createCustody } from './custody.ts'
import { createDeletions } from './deletions.ts'
import { createDeliveries } from './deliveries.ts'
import { createDisk } from './disk.ts'
import type { SqliteDatabase, SqliteDriver } from './driver.ts'
import { createDueLanes } from './due-lanes.ts'
import { createExpire } from './expire.ts'
import { createAddFacts, createAddReport } from './facts.ts'
import { createIdempotencyRecords } from './idempotency.ts'
import { createJoin, type SqliteTransaction } from './join.ts'
import { createLeases } from './leases.ts'
import { createLogs } from './logs.ts'
import { migrate } from './migrate.ts'
import { createNotifications } from './notifications.ts'
import { filesOf, IN_MEMORY, openDatabase } from './open.ts'
import { createRecordReceipts, createUnmatchedReceipts } from './receipts.ts'
import { createRecords } from './records.ts'
import { createRecoverExpired } from './recover.ts'
import { assertReadsUris, loadSqlite } from './runtime.ts'
import { createSettle } from './settle.ts'
import { startFailure } from './start-failure.ts'
import { createWebhookEndpoints } from './webhook-endpoints.ts'

/** More than an accept needs: a full disk may still have room for a page. */
const ROOM = 'x'.repeat(32_768)

const FILL = 'INSERT INTO carillon_write_check (room) VALUES (?)'

const EMPTY = 'DELETE FROM carillon_write_check'

/** After a refused write, tries a real one. */
function createCheck(connection: Connection): () => Promise<void> {
  const fill = connection.statement(FILL)
  const empty = connection.statement(EMPTY)
  return async function check() {
    connection.check()
    if (!connection.refused) return
    await connection.durably(() => fill().run(ROOM))
    // A separate commit: rows deleted before the commit would not be written.
    await connection.durably(() => empty().run())
    connection.refused = false
  }
}

export type { SqliteDatabase, SqliteDriver, SqliteStatement, SqliteValue } from './driver.ts'
export type { SqliteTransaction, Synchronous } from './join.ts'

/** `Database` is the driver's type of an open database. */
export interface SqliteOptions<Database extends SqliteDatabase = DatabaseSync> {
  /**
   * Path of the database file, or a `file:` URI (Node.js 22.15, without a `driver`); created if it does not exist.
   * Must be on a local disk. A database of your own is switched to a write-ahead log, and gets tables whose names
   * begin with `carillon_`. `:memory:`: no file.
   */
  readonly file: string
  /**
   * `full`: answered calls survive a power failure. `normal`: they survive the death of the process; a power failure
   * may undo the last moments.
   *
   * @default 'full'
   */
  readonly synchronous?: 'full' | 'normal' | undefined
  /**
   * Opens the file instead of `node:sqlite`: the class `Database` of `better-sqlite3` or `libsql`, or a similar one.
   */
  readonly driver?: SqliteDriver<Database> | undefined
  /** The storage's clock. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * Stores everything in one SQLite file. Several processes on one machine may share the file. The `node:sqlite` of
 * Node.js 22 truncates texts at a NUL character when it reads them.
 *
 * SQLite is synchronous: a method completes its transaction before it returns its promise. The promise then waits for
 * the disk outside of the event loop. If another program has locked the file, the method waits for up to five seconds,
 * also outside of the event loop, and then rejects with `service_unavailable`.
 *
 * Without a `driver`, `start()` loads `node:sqlite`, and fails with `invalid_configuration` on a runtime without it.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * const notifier = createNotifier({ storage: sqlite({ file: 'notifications.db' }), channels: { email: provider } })
 */
export function sqlite<Database extends SqliteDatabase = DatabaseSync>(
  options: SqliteOptions<Database>,
): Storage<SqliteTransaction<Database>> {
  const opening = validated(options)
  const { clock = { now: () => Date.now() } } = options
  const durable = opening.file !== IN_MEMORY
  const disk = createDisk()
  const connection = createConnection(() => clock.now(), disk)

  const deliveries = createDeliveries(connection)
  const pending = createPendingCalls()
  const records = createRecords(connection, pending)
  const addFacts = createAddFacts(connection, records)
  const addReport = createAddReport(connection, addFacts)
  const idempotency = createIdempotencyRecords(connection)
  const recoverExpired = createRecoverExpired(connection, { addFacts, deliveries })
  const quotaUsed = createQuotaUsed(connection)
  const accept = createAccept(connection, idempotency, records)
  const changes = createChanges(connection, { addFacts, deliveries })
  const join = createJoin<Database>(connection, accept, changes)
  const claim = createClaim(connection, { deliveries, dueLanes: createDueLanes(connection), recoverExpired })
  const settle = createSettle(connection, {
    addFacts,
    addReport,
    deliveries,
    unmatched: createUnmatchedReceipts(connection),
  })
  const recordReceipts = createRecordReceipts(connection, { addReport, deliveries, records })
  const addresses = createAddresses(connection)
  const leases = createLeases(connection, addresses)
  const countJobs = createCountJobs(connection)
  const expire = createExpire(connection, addresses)
  let started = false
  const serialize = createSerializer()

  async function open(kinds: readonly RecordKind[]): Promise<void> {
    if (started) return records.prepare(kinds)
    try {
      const database = await openDatabase(opening.file, options.driver ?? loadSqlite())
      connection.use(database)
      await migrate(connection)
      await records.prepare(kinds)
      if (durable) disk.open(filesOf(database), opening.synchronous === 'full')
      await disk.flush()
      started = true
    } catch (error) {
      await close()
      throw startFailure(opening.file, error)
    }
  }

  async function close(): Promise<void> {
    started = false
    const database = connection.use(undefined)
    await disk.close()
    try {
      database?.close()
    } catch {
      // The file was closed underneath, and its lock is gone.
    }
  }

  return {
    name: 'sqlite',
    durable,
    start({ kinds = [], follow } = {}) {
      if (follow !== undefined) connection.follow = follow
      return serialize(() => open([organizationKind, ...kinds]))
    },
    stop: () =>
      serialize(async () => {
        await pending.ended()
        await connection.idle()
        await close()
      }),
    check: createCheck(connection),
    inspect: () =>
      serialize(async () => {
        const { inspect } = await import('./inspect.ts')
        return inspect(opening.file, started, options.driver ?? loadSqlite(), connection.now)
      }),
    async accept(requests) {
      return accept.set(requests)
    },
    async join(tx) {
      return join(tx)
    },
    async quotaUsed(organizationId, period) {
      return quotaUsed(organizationId, period)
    },
    async findIdempotent(keys) {
      const found = await connection.read(() => {
        const now = connection.now()
        return keys.map((key) => idempotency.find(key, now))
      })
      // A replayed answer may stem from a commit that is not on disk yet.
      if (found.some((record) => record !== null)) await disk.flush()
      return found
    },
    async claim(request) {
      const answer = await claim(request)
      if (!answer.jobs.some(({ begun }) => begun === true)) return answer
      try {
        await disk.flush()
      } catch (error) {
        // These attempts will not be made.
        await leases.release(answer.jobs)
        throw error
      }
      return answer
    },
    async startAttempts(refs) {
      return leases.startAttempts(refs)
    },
    async renew(refs, leaseMs) {
      return leases.renew(refs, leaseMs)
    },
    async release(refs) {
      return leases.release(refs)
    },
    async settle(settlements) {
      return settle(settlements)
    },
    async recordReceipts(receipts) {
      return recordReceipts(receipts)
    },
    async countJobs(of, most) {
      return countJobs(of, most)
    },
    async expire(request) {
      return expire(request)
    },
    notifications: createNotifications(connection, { addFacts, deliveries, changes, addresses }),
    logs: createLogs(connection),
    records,
    deletions: createDeletions(connection, records),
    custody: createCustody(connection, { addFacts, deliveries, addresses }),
    webhookEndpoints: createWebhookEndpoints(connection, deliveries, records),
  }
}

/** An open database, which has the same methods, is a likely mistake. */
const CLASS: OptionRule = {
  expected: 'a class that opens a database, such as Database of better-sqlite3',
  holds: (value) => typeof value === 'function' && value.prototype !== undefined,
}

interface Checked {
  readonly file: string
  readonly synchronous: 'full' | 'normal'
}

function validated<Database extends SqliteDatabase>(options: SqliteOptions<Database>): Checked {
  assertOptionNames('sqlite', options, {
    file: true,
    synchronous: true,
    driver: CLASS,
    clock: objectWith('now'),
  })
  const { file, synchronous = 'full', driver } = options
  // Drivers cut a name at a NUL character.
  if (typeof file !== 'string' || file.trim() === '' || file.includes('\0'))
    throw wrong('file', 'must be the path of a file, or ":memory:"')
  if (synchronous !== 'full' && synchronous !== 'normal')
    throw wrong('synchronous', 'must be "full" or "normal"')
  if (file.startsWith('file::memory:'))
    throw wrong('file', 'must be ":memory:" for a database in memory, not a URI')
  if (file.startsWith('file:')) {
    // It would silently become a file name.
    if (driver !== undefined) throw wrong('file', 'must be a path, not a URI, if there is a "driver"')
    assertReadsUris()
  }
  return { file, synchronous }
}

function wrong(option: string, fault: string): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `sqlite: "${option}" ${fault}.`,
    details: { option },
  })
}
