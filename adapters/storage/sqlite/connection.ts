import { isNotifierError, NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Follow } from '../../../src/core/ports/storage/storage.ts'
import { notOpen } from '../not-open.ts'
import type { Disk } from './disk.ts'
import type { SqliteDatabase } from './driver.ts'
import { isDataError, isDiskError, unavailable } from './errors.ts'
import { createLockWaits, type LockWaits, unlocked } from './lock-waits.ts'
import { prepareStatement, type Statement } from './statement.ts'

/** The single handle of the database file. */
export interface Connection {
  /** The storage's clock. */
  readonly now: () => number
  /** Set by the storage's start. */
  follow: Follow
  /** Sets or clears the handle. */
  use(database: SqliteDatabase | undefined): SqliteDatabase | undefined
  /** A statement that is prepared on first use and cached. */
  statement<Row = never>(sql: string): () => Statement<Row>
  /** Runs a script of several statements. */
  script(sql: string): void
  /** @throws NotifierError `service_unavailable` if the disk is known to have failed */
  check(): void
  /**
   * True: the disk refused a write. Reset by a successful write check; a commit alone proves nothing, because empty
   * claims write nothing.
   */
  refused: boolean
  /**
   * Runs `work`, at once unless another program has locked the file: see {@link LockWaits}. Errors of the storage become
   * `service_unavailable`.
   */
  read<Answer>(work: () => Answer): Promise<Answer>
  /**
   * Runs `work` in one transaction that takes the write lock at its start, so it never has to be repeated. At once unless
   * another program has the lock: see {@link LockWaits}. Data errors pass unchanged. After any error nothing is stored,
   * and the handle stays usable.
   *
   * Does not wait for the disk: the next durable commit flushes it, in order. For leases and sweeps, which a power
   * failure may undo without harm.
   */
  write<Answer>(work: () => Answer): Promise<Answer>
  /** The same after a {@link check}, resolved when the commit is on disk. */
  durably<Answer>(work: () => Answer): Promise<Answer>
  /**
   * Answers every item of a set in one transaction, resolved when the commit is on disk. After a data error the set is
   * run again with a savepoint per item, so that only the bad item fails. Without a {@link check}: facts about the
   * outside world are better written at risk than lost.
   *
   * @param failed the answer for a bad item
   * @param prepare starts a run and returns the function for one item
   * @param flush writes what that function has left for later. Called after all items, or after each of a repeated run
   */
  writeSet<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    prepare: () => (item: Item) => Answer,
    flush?: () => void,
  ): Promise<Answer[]>
  /** Inside {@link write}: undoes `work` if its answer is a refusal. */
  unless<Answer>(isRefused: (answer: Answer) => boolean, work: () => Answer): Answer
  /**
   * Inside {@link write}: lends the handle to `work`.
   *
   * @throws the error of `work`; NotifierError `invalid_transaction` if it ended the transaction
   */
  lend<Answer>(work: (database: SqliteDatabase) => Answer): Answer
  /** Resolves when no call waits for a lock. */
  idle(): Promise<void>
}

export function createConnection(now: () => number, disk: Pick<Disk, 'flush' | 'check'>): Connection {
  let open: SqliteDatabase | undefined

  function database(): SqliteDatabase {
    if (open !== undefined) return open
    throw notOpen('SQLite')
  }

  function statement<Row>(sql: string): () => Statement<Row> {
    let owner: SqliteDatabase | undefined
    let prepared: Statement<Row> | undefined
    return function prepare() {
      if (prepared === undefined || owner !== open) {
        owner = database()
        prepared = prepareStatement<Row>(owner, sql)
      }
      return prepared
    }
  }

  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const rollback = statement('ROLLBACK')
  const savepoint = statement('SAVEPOINT item')
  const keepItem = statement('RELEASE item')
  const undoItem = statement('ROLLBACK TO item')
  const trial = statement('SAVEPOINT trial')
  const keepTrial = statement('RELEASE trial')
  const undoTrial = statement('ROLLBACK TO trial')
  const lent = statement('SAVEPOINT lent')
  const returned = statement('RELEASE lent')

  function asFailure(error: unknown): unknown {
    return isNotifierError(error) || isDataError(error) ? error : unavailable(error)
  }

  function undo(): void {
    try {
      rollback().run()
    } catch {
      // SQLite has already rolled back, for example after a full disk.
    }
  }

  /** Reads need no write lock. So they wait only for other reads. */
  const reads = createLockWaits()
  const writes = createLockWaits()

  async function waited<Answer>(waits: LockWaits, work: () => Answer): Promise<Answer> {
    try {
      return await waits.run(work)
    } catch (error) {
      throw asFailure(error)
    }
  }

  function transaction<Answer>(work: () => Answer): Answer {
    unlocked(() => begin().run())
    try {
      const answer = work()
      commit().run()
      return answer
    } catch (error) {
      undo()
      if (isDiskError(error)) connection.refused = true
      throw error
    }
  }

  function write<Answer>(work: () => Answer): Promise<Answer> {
    return waited(writes, () => transaction(work))
  }

  /** Runs `work` under a savepoint, so that its data error rolls back only itself. */
  function alone<Answer>(work: () => Answer, failed: (cause: unknown) => Answer): Answer {
    savepoint().run()
    try {
      const answer = work()
      keepItem().run()
      return answer
    } catch (error) {
      if (!isDataError(error)) throw error
      undoItem().run()
      keepItem().run()
      return failed(error)
    }
  }

  function writeAll<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    prepare: () => (item: Item) => Answer,
    flush: () => void,
  ): Answer[] {
    function flushed<Result>(result: Result): Result {
      flush()
      return result
    }
    try {
      return transaction(() => flushed(items.map(prepare())))
    } catch (error) {
      if (!isDataError(error)) throw error
    }
    return transaction(() => {
      const answer = prepare()
      return items.map((item) => alone(() => flushed(answer(item)), failed))
    })
  }

  function unless<Answer>(isRefused: (answer: Answer) => boolean, work: () => Answer): Answer {
    trial().run()
    const answer = work()
    if (isRefused(answer)) undoTrial().run()
    keepTrial().run()
    return answer
  }

  function lend<Answer>(work: (database: SqliteDatabase) => Answer): Answer {
    lent().run()
    const answer = work(database())
    try {
      // The savepoint is gone if the transaction was ended, even if another one was begun.
      returned().run()
    } catch (cause) {
      throw new NotifierError('invalid_transaction', {
        message:
          'The function "tx" ended the transaction around it, so nothing was stored. It must not commit or roll back.',
        details: { reason: 'ended' },
        cause,
      })
    }
    return answer
  }

  function check(): void {
    disk.check(now())
  }

  const connection: Connection = {
    refused: false,
    follow: () => [],
    now,
    lend,
    unless,
    check,
    use(database) {
      const before = open
      open = database
      connection.refused = false
      return before
    },
    statement,
    script(sql) {
      database().exec(sql)
    },
    read: (work) =>
      waited(reads, () => {
        check()
        return unlocked(work)
      }),
    write,
    async durably(work) {
      check()
      const answer = await write(work)
      await disk.flush()
      return answer
    },
    async writeSet(items, failed, prepare, flush = () => {}) {
      const answers = await waited(writes, () => writeAll(items, failed, prepare, flush))
      await disk.flush()
      return answers
    },
    async idle() {
      await Promise.all([reads.idle(), writes.idle()])
    },
  }
  return connection
}
