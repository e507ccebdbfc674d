import type { Connection, Transaction } from './connection.ts'

const IN_ORDER = ['SET LOCAL enable_bitmapscan = off', 'SET LOCAL enable_sort = off']

/**
 * Runs a query on a bounded part of a list in a transaction whose settings make plans walk the list's index. With
 * statistics of a small table, a plan would gather and sort everything.
 */
export function inOrder<Answer>(
  connection: Connection,
  look: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  return connection.transaction(look, IN_ORDER, true)
}
