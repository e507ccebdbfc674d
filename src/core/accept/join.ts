import { NotifierError } from '../errors/notifier-error.ts'
import type { JoinedTransaction } from '../ports/storage/accept.ts'
import type { Storage } from '../ports/storage/storage.ts'

/**
 * Joins a transaction of the caller.
 *
 * @throws NotifierError `invalid_transaction` if the storage joins none, and as its `join`
 */
export async function joinTransaction(
  storage: Pick<Storage<unknown>, 'name' | 'join'>,
  tx: unknown,
): Promise<JoinedTransaction> {
  const transaction = await storage.join?.(tx)
  if (transaction !== undefined) return transaction
  throw new NotifierError('invalid_transaction', {
    message:
      `The ${storage.name} storage cannot join a transaction of yours. ` +
      'Leave "tx" out, or use the PostgreSQL or SQLite storage.',
    details: { reason: 'unsupported' },
  })
}
