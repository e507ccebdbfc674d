import { randomBytes } from 'node:crypto'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Joined, JoinedTransaction } from '../../../src/core/ports/storage/accept.ts'
import type { StorageInspection } from '../../../src/core/ports/storage/inspection.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { organizationKind } from '../../../src/core/tenancy/organization.ts'
import type { OpenPgPool } from '../../peer/pg.ts'
import { createPendingCalls } from '../pending-calls.ts'
import { createSerializer } from '../serialize.ts'
import { createAccept } from './accept.ts'
import { createAddresses } from './addresses.ts'
import { createClaim } from './claim.ts'
import { createCommits } from './commits.ts'
import { type Connection, createConnection } from './connection.ts'
import { createCountJobs } from './count-jobs.ts'
import { createCustody } from './custody.ts'
import { createDeletions } from './deletions.ts'
import { addRefs, type JobRow } from './due-jobs.ts'
import { startFailure } from './errors.ts'
import { createExpire } from './expire.ts'
import { createFindIdempotent } from './idempotency.ts'
import { inspect } from './inspect.ts'
import { createJoining } from './join.ts'
import { createLeases } from './leases.ts'
import { createLogs } from './logs.ts'
import { migrate } from './migrate.ts'
import { createNotifications } from './notifications.ts'
import type { ResolvedOptions } from './options.ts'
import { createPartitions } from './partitions.ts'
import type { PgPool } from './peer.ts'
import { connectListener, openPool } from './pool.ts'
import { createFoldUsage, createQuotaUsed } from './quota.ts'
import { createRecordReceipts } from './receipts.ts'
import { createRecordTables } from './record-tables.ts'
import { createDefaultOrganization, createRecords } from './records.ts'
import { createRecoverExpired } from './recover.ts'
import { OWN_EVENTS } from './remove.ts'
import { createSettle } from './settle.ts'
import type { PostgresTransaction } from './transaction-handles.ts'
import { createWake } from './wake.ts'
import { createWebhookEndpoints } from './webhook-endpoints.ts'

/** A standby is read-only regardless of its settings. */
const SELECT_READ_ONLY = "SELECT current_setting('transaction_read_only') = 'on' AS read_only"

/** More than an accept needs: on a full disk, existing pages may still have room for a row. */
const ROOM_BYTES = 32_768

const FILL = `
  INSERT INTO carillon.kept (name, value) VALUES ('check', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

const EMPTY = "DELETE FROM carillon.kept WHERE name = 'check'"

/** Checks that the server accepts writes. After a refused write it tries a real one. */
function createCheck(connection: Connection): () => Promise<void> {
  return async function check() {
    const [found] = await connection.rows<{ read_only: boolean }>(SELECT_READ_ONLY)
    if (found?.read_only === true) throw readOnly()
    if (!connection.refused) return
    // Random, so that compression does not shrink it.
    await connection.rows(FILL, [randomBytes((ROOM_BYTES * 3) / 4).toString('base64')])
    await connection.rows(EMPTY)
    connection.refused = false
  }
}

function readOnly(): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      'PostgreSQL is read-only: the server is a standby, or "default_transaction_read_only" is on. ' +
      'Nothing is accepted until the connections lead to a writable server.',
  })
}

const SELECT_JOBS = `
  SELECT j.id, j.lane, j.due_at FROM carillon.notifications AS n JOIN carillon.jobs AS j ON j.id = 2 * n.seq
  WHERE n.id = ANY ($1::text[])`

/** Of the events of notifications. */
const SELECT_EVENT_JOBS = `
  SELECT j.id, j.lane, j.due_at FROM unnest($1::text[]) AS n (id), carillon.deliveries AS d, carillon.jobs AS j
  WHERE ${OWN_EVENTS('n.id')} AND j.id = 2 * d.seq + 1`

/** Enqueues jobs that a caller's transaction stored. Only the database sees its commit, so this waits for it. */
async function enqueueStored(
  connection: Connection,
  ids: readonly string[],
  statement: string,
): Promise<void> {
  const { dueJobs } = connection
  if (dueJobs.sink === null) return dueJobs.afterCommit({ refs: null, wakes: true })
  await connection.transaction(async ({ rows, made, now }) => {
    const jobs = await rows<JobRow & { readonly due_at: number }>(statement, [ids])
    addRefs(
      made,
      jobs.map(({ id, lane, due_at: dueAt }) => ({
        jobId: String(id),
        lane,
        dueInMs: Math.max(0, dueAt - now),
      })),
    )
  })
}

/** How often missing partitions of the next months are created. */
const PARTITIONS_EVERY_MS = 6 * 60 * 60_000

/** Delay between a commit and the folding of the usage that it added. */
const FOLD_AFTER_MS = 1_000

/** @param time for tests; null: the database's clock */
export function createStorage(
  options: ResolvedOptions,
  time: () => number | null,
): Storage<PostgresTransaction> {
  const connection = createConnection({ ...options, time })
  const wake = createWake(connection, options.listen ? () => connectListener(options) : null)
  connection.dueJobs.wakeBy(wake.notify)
  const accept = createAccept(connection)
  const commits = createCommits(connection)
  const joining = createJoining(connection, commits)
  const foldUsage = createFoldUsage(connection)
  const leases = createLeases(connection)
  let opened: OpenPgPool<PgPool> | undefined
  let partitions: NodeJS.Timeout | undefined
  let folding: NodeJS.Timeout | undefined
  const { counted, countedAll, ended } = createPendingCalls()
  const addresses = createAddresses(connection, counted)
  const serialize = createSerializer()

  async function prepare(kinds: readonly RecordKind[]): Promise<void> {
    if (opened === undefined) return open(kinds)
    await createRecordTables(connection, kinds).catch((error: unknown) => {
      throw startFailure(error)
    })
  }

  async function open(kinds: readonly RecordKind[]): Promise<void> {
    opened = await openPool(options)
    connection.use(opened.pool)
    try {
      await migrate(connection)
      await createRecordTables(connection, [organizationKind, ...kinds])
      await createPartitions(connection)
      await createDefaultOrganization(connection)
      await joining.start()
    } catch (error) {
      await close()
      throw startFailure(error)
    }
    // A failed run is retried. Until then the default partition takes the rows.
    partitions = setInterval(() => void createPartitions(connection).catch(() => {}), PARTITIONS_EVERY_MS)
    partitions.unref()
    foldSoon()
  }

  /** With a pool of its own, before a start. */
  async function inspected(): Promise<StorageInspection> {
    if (opened !== undefined) return inspect(connection)
    const own = await openPool(options)
    connection.use(own.pool)
    try {
      return await inspect(connection)
    } finally {
      connection.use(undefined)
      await own.close()
    }
  }

  /** Delayed, to fold several commits at once. A failure is repaired by the next run; the rows count meanwhile. */
  function foldSoon(): void {
    folding ??= setTimeout(() => {
      folding = undefined
      void fold().then((done) => {
        if (!done) foldSoon()
      })
    }, FOLD_AFTER_MS)
    folding.unref()
  }
  const fold = counted(() => foldUsage().catch(() => true))

  async function close(): Promise<void> {
    clearInterval(partitions)
    clearTimeout(folding)
    folding = undefined
    accept.forget()
    connection.use(undefined)
    const before = opened
    opened = undefined
    await before?.close()
  }

  /** Follows a commit of the caller. The sweep finds jobs whose refs are lost here. */
  function enqueueAfter<Answer>(
    joined: Joined<Answer>,
    ids: readonly string[],
    statement: string = SELECT_JOBS,
  ): Joined<Answer> {
    void joined.committed.then((stored) => {
      if (stored) enqueueStored(connection, ids, statement).catch(() => {})
    })
    return joined
  }

  async function join(tx: PostgresTransaction): Promise<JoinedTransaction> {
    const transaction = await joining.join(tx)
    return {
      ...transaction,
      accept: counted(async (request) => {
        const ids = request.notifications.map(({ id }) => id)
        const joined = enqueueAfter(await transaction.accept(request), ids)
        void joined.committed.then((stored) => {
          if (stored && request.quota !== undefined) foldSoon()
        })
        return joined
      }),
      cancel: counted(async (id, content) =>
        enqueueAfter(await transaction.cancel(id, content), [id], SELECT_EVENT_JOBS),
      ),
      reschedule: counted(async (id, sendAt) => enqueueAfter(await transaction.reschedule(id, sendAt), [id])),
    }
  }

  return {
    name: 'postgres',
    durable: true,
    start({ kinds = [], follow } = {}) {
      if (follow !== undefined) connection.follow = follow
      return serialize(() => prepare(kinds))
    },
    stop: () =>
      serialize(async () => {
        await ended()
        commits.stop()
        await wake.stop()
        await close()
      }),
    check: counted(createCheck(connection)),
    inspect: () => serialize(inspected),
    onWork: wake.listen,
    async enqueueJobs(sink) {
      connection.dueJobs.use(sink)
      if ('enqueueInTransaction' in sink)
        await connection.transaction((tx) => sink.enqueueInTransaction(tx.rows, []))
    },
    accept: counted(async (requests) => {
      const answers = await accept.set(requests)
      if (requests.some(({ quota }) => quota !== undefined)) foldSoon()
      return answers
    }),
    join: counted(join),
    quotaUsed: counted(createQuotaUsed(connection)),
    findIdempotent: counted(createFindIdempotent(connection)),
    claim: counted(createClaim(connection, createRecoverExpired(connection), leases.release)),
    startAttempts: counted(leases.startAttempts),
    renew: counted(leases.renew),
    release: counted(leases.release),
    settle: counted(createSettle(connection)),
    recordReceipts: counted(createRecordReceipts(connection)),
    countJobs: counted(createCountJobs(connection)),
    expire: counted(createExpire(connection, addresses)),
    notifications: countedAll(createNotifications(connection, addresses)),
    logs: countedAll(createLogs(connection)),
    records: countedAll(createRecords(connection)),
    deletions: countedAll(createDeletions(connection)),
    custody: countedAll(createCustody(connection)),
    webhookEndpoints: countedAll(createWebhookEndpoints(connection)),
  }
}
