import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { isNotifierError, NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { isDataError, unavailable } from './errors.ts'

/** A prepared statement whose rows have a known form. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  run(...values: SQLInputValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
}

/** The one handle on the database file. */
export interface Connection {
  /** The storage's clock. */
  readonly now: () => number
  /** Takes an open handle into use, or none. */
  use(database: DatabaseSync | undefined): DatabaseSync | undefined
  /** A statement that is prepared when it is first used, and kept. */
  statement<Row = never>(sql: string): () => Statement<Row>
  /** Runs a script of several statements. */
  script(sql: string): void
  /** Runs `work`; errors of the storage become `service_unavailable`. */
  read<Answer>(work: () => Answer): Answer
  /**
   * Runs `work` as one transaction with the write lock from its start, so that it never has to be repeated.
   * Data errors are passed on as they are; after any error nothing of it is stored and the handle can be used.
   */
  write<Answer>(work: () => Answer): Answer
  /** Runs `work` inside the transaction; its data error undoes `work` alone, and is handed to `guilty`. */
  attempt<Answer>(work: () => Answer, guilty: (error: unknown) => Answer): Answer
}

export function createConnection(now: () => number): Connection {
  let open: DatabaseSync | undefined

  function database(): DatabaseSync {
    if (open !== undefined) return open
    throw new NotifierError('service_unavailable', { message: 'The SQLite storage is not open.' })
  }

  function statement<Row>(sql: string): () => Statement<Row> {
    let owner: DatabaseSync | undefined
    let prepared: Statement<Row> | undefined
    return function prepare() {
      if (prepared === undefined || owner !== open) {
        owner = database()
        prepared = owner.prepare(sql) as unknown as Statement<Row>
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

  function failed(error: unknown): unknown {
    return isNotifierError(error) || isDataError(error) ? error : unavailable(error)
  }

  function undo(): void {
    try {
      rollback().run()
    } catch {
      // SQLite had rolled back by itself, as it does after a full disk.
    }
  }

  return {
    now,
    use(database) {
      const before = open
      open = database
      return before
    },
    statement,
    script(sql) {
      database().exec(sql)
    },
    read(work) {
      try {
        return work()
      } catch (error) {
        throw failed(error)
      }
    },
    write(work) {
      let begun = false
      try {
        begin().run()
        begun = true
        const answer = work()
        commit().run()
        return answer
      } catch (error) {
        if (begun) undo()
        throw failed(error)
      }
    },
    attempt(work, guilty) {
      savepoint().run()
      try {
        const answer = work()
        keepItem().run()
        return answer
      } catch (error) {
        if (!isDataError(error)) throw error
        undoItem().run()
        keepItem().run()
        return guilty(error)
      }
    },
  }
}
