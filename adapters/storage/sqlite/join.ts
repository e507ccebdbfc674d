import type { DatabaseSync } from 'node:sqlite'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  Joined,
  JoinedTransaction,
} from '../../../src/core/ports/storage/accept.ts'
import type { Accept } from './accept.ts'
import type { Changes } from './changes.ts'
import type { Connection } from './connection.ts'
import type { SqliteDatabase } from './driver.ts'
import { dataError, isDataError } from './errors.ts'

/**
 * Anything but a promise. Every value but null and undefined has `toString`; a type with only `then` would match no
 * object.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: what a function without a return statement returns
export type Synchronous = void | { toString(): string; readonly then?: never }

/**
 * A transaction of the caller: a synchronous function that writes the caller's data into the storage's file. It runs
 * inside the commit that stores or changes the notification, after all checks and only if that will be stored: not
 * after a refusal, and not for a repeated idempotency key. An error rolls back both and rejects the call. The function
 * must not begin, commit or roll back, and must not keep the database.
 *
 * @param database the storage's own handle, of the `driver` if the storage has one
 * @param ids of the notifications that are stored or changed with it
 */
export type SqliteTransaction<Database = DatabaseSync> = (
  database: Database,
  ids: readonly string[],
) => Synchronous

/** The transaction begins when the call writes, so earlier lookups are repeated in it. */
export function createJoin<Database extends SqliteDatabase>(
  connection: Connection,
  accept: Accept,
  changes: Changes,
): (tx: SqliteTransaction<Database>) => JoinedTransaction {
  type Call = (ids: readonly string[]) => void

  /**
   * Runs `work` in one commit. It calls the caller's function.
   *
   * @param failed the answer for a data error that is not the caller's
   */
  async function inCommit<Answer>(
    tx: SqliteTransaction<Database>,
    work: (call: Call) => Answer,
    failed: (error: unknown) => Answer,
  ): Promise<Answer> {
    let thrown: { readonly error: unknown } | undefined

    function call(ids: readonly string[]): void {
      const answer: unknown = connection.lend((database) => {
        try {
          return tx(database as Database, ids)
        } catch (error) {
          thrown = { error }
          throw error
        }
      })
      if (isThenable(answer)) throw asynchronous()
    }

    try {
      return await connection.durably(() => work(call))
    } catch (error) {
      if (thrown !== undefined) throw thrown.error
      if (!isDataError(error)) throw error
      return failed(error)
    }
  }

  async function acceptWith(
    tx: SqliteTransaction<Database>,
    request: AcceptRequest,
  ): Promise<Joined<AcceptAnswer>> {
    const answer = await inCommit<AcceptAnswer>(
      tx,
      (call) =>
        accept.one(request, connection.now(), (admitted) => {
          const ids = request.notifications.slice(0, admitted).map(({ id }) => id)
          if (ids.length > 0) call(ids)
        }),
      (error) => ({ kind: 'failed', error: dataError(error) }),
    )
    return { answer, committed: Promise.resolve(answer.kind === 'accepted') }
  }

  async function changeWith<Answer extends { readonly kind: string }>(
    tx: SqliteTransaction<Database>,
    id: string,
    kind: Answer['kind'],
    change: () => Answer,
  ): Promise<Joined<Answer>> {
    const answer = await inCommit(
      tx,
      (call) => {
        const answer = change()
        if (answer.kind === kind) call([id])
        return answer
      },
      (error) => {
        throw dataError(error)
      },
    )
    return { answer, committed: Promise.resolve(answer.kind === kind) }
  }

  return function join(tx) {
    assertFunction(tx)
    return {
      accept: (request) => acceptWith(tx, request),
      cancel: (id, content) => changeWith(tx, id, 'cancelled', () => changes.cancel(id, content)),
      reschedule: (id, sendAt) => changeWith(tx, id, 'rescheduled', () => changes.reschedule(id, sendAt)),
    }
  }
}

function assertFunction(tx: unknown): void {
  if (typeof tx !== 'function') {
    throw new NotifierError('invalid_transaction', {
      message:
        'For the SQLite storage, "tx" must be a function that takes the database inside the transaction.',
      details: { reason: 'not_a_transaction' },
    })
  }
  // Detected before it runs: code after its first `await` would run outside the transaction.
  if (tx.constructor.name === 'AsyncFunction') throw asynchronous()
}

function asynchronous(): NotifierError {
  return new NotifierError('invalid_transaction', {
    message:
      'The function "tx" must be synchronous: SQLite commits when it returns. ' +
      'It returned a promise, so nothing was stored. Await before or after the send instead.',
    details: { reason: 'asynchronous' },
  })
}

function isThenable(value: unknown): boolean {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
