import type { DatabaseSync } from 'node:sqlite'
import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { AddressOf } from '../../../src/ports/storage/storage.ts'
import { notOpen } from '../not-open.ts'
import type { Disk } from './disk.ts'
import { isDataError, isDiskError, unavailable } from './errors.ts'
import { prepareStatement, type Statement } from './statement.ts'

/** The one handle on the database file. */
export interface Connection {
  /** The storage's clock. */
  readonly now: () => number
  /** As the storage's start was given it. */
  addressOf: AddressOf
  /** Takes an open handle into use, or none. */
  use(database: DatabaseSync | undefined): DatabaseSync | undefined
  /** A statement that is prepared when it is first used, and kept. */
  statement<Row = never>(sql: string): () => Statement<Row>
  /** Runs a script of several statements. */
  script(sql: string): void
  /** @throws NotifierError `service_unavailable` where it is known already that nothing could be answered as stored */
  check(): void
  /**
   * Whether the disk has refused a write. Who has seen it take one again says so: a commit alone does not tell, since those
   * of claims without work write nothing.
   */
  refused: boolean
  /** Runs `work`; errors of the storage become `service_unavailable`. */
  read<Answer>(work: () => Answer): Answer
  /**
   * Runs `work` as one transaction with the write lock from its start, so that it never has to be repeated.
   * Data errors are passed on as they are; after any error nothing of it is stored and the handle can be used.
   *
   * It does not wait for the disk: the next one that does brings it there, in order. For leases and sweeps, whose loss in
   * a power failure does no harm.
   */
  write<Answer>(work: () => Answer): Answer
  /** Does the same, after a {@link check}, and answers when the disk has it. */
  durably<Answer>(work: () => Answer): Promise<Answer>
  /**
   * Answers every item of a set in one transaction, when the disk has it. After a data error the set is run once more,
   * each item under a savepoint of its own, so that the guilty one alone fails. Without a {@link check}: what has happened
   * outside is better written where it may be lost than not at all.
   *
   * @param failed the answer to a guilty item
   * @param prepare begins a run and returns what answers one item
   */
  writeSet<Item, Answer>(
    items: readonly Item[],
    failed: (cause: unknown) => Answer,
    prepare: () => (item: Item) => Answer,
  ): Promise<Answer[]>
  /**
   * Inside {@link write}: lets `work` use the handle.
   *
   * @throws what it throws; NotifierError `invalid_transaction` when it has ended the transaction
   */
  lend<Answer>(work: (database: DatabaseSync) => Answer): Answer
}

export function createConnection(now: () => number, disk: Pick<Disk, 'flush' | 'check'>): Connection {
  let open: DatabaseSync | undefined

  function database(): DatabaseSync {
    if (open !== undefined) return open
    throw notOpen('SQLite')
  }

  function statement<Row>(sql: string): () => Statement<Row> {
    let owner: DatabaseSync | undefined
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
  const lent = statement('SAVEPOINT lent')
  const returned = statement('RELEASE lent')

  function asFailure(error: unknown): unknown {
    return isNotifierError(error) || isDataError(error) ? error : unavailable(error)
  }

  function undo(): void {
    try {
      rollback().run()
    } catch {
      // SQLite had rolled back by itself, as it does after a full disk.
    }
  }

  function write<Answer>(work: () => Answer): Answer {
    let begun = false
    try {
      begin().run()
      begun = true
      const answer = work()
      commit().run()
      return answer
    } catch (error) {
      if (begun) undo()
      if (isDiskError(error)) connection.refused = true
      throw asFailure(error)
    }
  }

  /** Runs `work` under a savepoint: its data error undoes it alone. */
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
  ): Answer[] {
    try {
      return write(() => items.map(prepare()))
    } catch (error) {
      if (!isDataError(error)) throw error
    }
    return write(() => {
      const answer = prepare()
      return items.map((item) => alone(() => answer(item), failed))
    })
  }

  function lend<Answer>(work: (database: DatabaseSync) => Answer): Answer {
    lent().run()
    const answer = work(database())
    try {
      // Gone with a transaction that was ended, also where another one was begun.
      returned().run()
    } catch (cause) {
      throw new NotifierError('invalid_transaction', {
        message: 'The function "tx" ended the transaction that it was called in. Nothing was accepted.',
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
    addressOf: (_channel, recipient) => recipient,
    now,
    lend,
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
    read(work) {
      try {
        check()
        return work()
      } catch (error) {
        throw asFailure(error)
      }
    },
    write,
    async durably(work) {
      check()
      const answer = write(work)
      await disk.flush()
      return answer
    },
    async writeSet(items, failed, prepare) {
      const answers = writeAll(items, failed, prepare)
      await disk.flush()
      return answers
    },
  }
  return connection
}
