import type { DatabaseSync } from 'node:sqlite'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  JoinedAccept,
  JoinedTransaction,
} from '../../../src/core/ports/storage/accept.ts'
import type { Accept } from './accept.ts'
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
 * inside the commit that stores the notification, after all checks and only if the notification will be stored: not
 * after a refusal, and not for a repeated idempotency key. An error rolls back both and rejects the send. The function
 * must not begin, commit or roll back, and must not keep the database.
 *
 * @param database the storage's own handle, of the `driver` if the storage has one
 * @param ids of the notifications that are stored with it
 */
export type SqliteTransaction<Database = DatabaseSync> = (
  database: Database,
  ids: readonly string[],
) => Synchronous

/** The transaction begins when the request is stored, so earlier lookups are repeated in it. */
export function createJoin<Database extends SqliteDatabase>(
  connection: Connection,
  accept: Accept,
): (tx: SqliteTransaction<Database>) => JoinedTransaction {
  async function acceptWith(tx: SqliteTransaction<Database>, request: AcceptRequest): Promise<JoinedAccept> {
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
      const answer = await connection.durably((): AcceptAnswer => {
        return accept.one(request, connection.now(), (admitted) => {
          const ids = request.notifications.slice(0, admitted).map(({ id }) => id)
          if (ids.length > 0) call(ids)
        })
      })
      return { answer, committed: Promise.resolve(answer.kind === 'accepted') }
    } catch (error) {
      if (thrown !== undefined) throw thrown.error
      if (!isDataError(error)) throw error
      return { answer: { kind: 'failed', error: dataError(error) }, committed: Promise.resolve(false) }
    }
  }

  return function join(tx) {
    assertFunction(tx)
    return { accept: (request) => acceptWith(tx, request) }
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
