import assert from 'node:assert/strict'
import type { AcceptAnswer, AcceptRequest, Joined } from '../../core/ports/storage/accept.ts'
import { inTime } from '../in-time.ts'
import { Absent } from '../test-api.ts'
import type { CallerTransactions, Check, OpenTransaction, StorageHarness } from './harness.ts'

/** Transactions with one accept each. */
export interface Accepting {
  commit(request: AcceptRequest, row: string): Promise<Joined<AcceptAnswer>>
  rollBack(request: AcceptRequest, row: string): Promise<void>
  rows(): Promise<string[]>
}

export function accepting(transactions: CallerTransactions): Accepting {
  return {
    commit: (request, row) => transactions.commit((joined) => joined.accept(request), row),
    rollBack: (request, row) => transactions.rollBack((joined) => joined.accept(request), row),
    rows: () => transactions.rows(),
  }
}

/** Declares a check of a storage that joins transactions of its caller. */
export function checkWithin(
  check: Check,
  title: string,
  run: (harness: StorageHarness, transactions: CallerTransactions) => Promise<void>,
): void {
  check(`in a transaction of the caller's: ${title}`, async (harness) => {
    const { storage, transactions } = harness
    assert.equal(transactions === undefined, storage.join === undefined)
    if (transactions === undefined) throw new Absent('The storage joins no transaction of its caller.')
    await run(harness, transactions)
  })
}

/** Declares a check of transactions that stay open: `begin` begins one, `end` ends it. What stays open is rolled back. */
export function checkWhileOpen(
  check: Check,
  title: string,
  run: (
    harness: StorageHarness,
    begin: (row: string) => Promise<OpenTransaction>,
    end: (transaction: OpenTransaction, end: 'commit' | 'rollBack') => Promise<void>,
  ) => Promise<void>,
): void {
  checkWithin(check, title, async (harness, transactions) => {
    const begin = transactions.begin?.bind(transactions)
    if (begin === undefined) throw new Absent("The caller's transactions end with their call.")
    const begun: Promise<OpenTransaction>[] = []
    const ended = new Set<OpenTransaction>()
    try {
      await run(
        harness,
        async (row) => {
          const coming = begin(row)
          begun.push(coming)
          return inTime(coming, 'the begin of a transaction waits for another one')
        },
        async (transaction, end) => {
          ended.add(transaction)
          await transaction[end]()
        },
      )
    } finally {
      // In order: a later one may wait for an earlier one.
      for (const coming of begun) {
        const transaction = await inTime(coming, 'the begin of a transaction has not ended').catch(() => null)
        if (transaction !== null && !ended.has(transaction)) await transaction.rollBack()
      }
    }
  })
}
