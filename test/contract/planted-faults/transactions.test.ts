import { expect, it } from 'vitest'
import type { PostgresTransaction } from '../../../adapters/storage/postgres/transaction-handles.ts'
import type { AcceptRequest, JoinedAccept } from '../../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { describeWith } from '../../support/left-out.ts'
import { whyNoPostgres } from '../../support/postgres.ts'
import { postgresHarness } from '../../support/postgres-harness.ts'
import { failures } from './storage-faults.ts'

/* A join that waits, or looks, where it must not. */

type Change = (storage: Storage<PostgresTransaction>, schema: string) => Storage<PostgresTransaction>

const PART = "in a transaction of the caller's"

/** @param statement is run in the caller's transaction at its join */
const joining =
  (statement: string): Change =>
  (good, schema) => ({
    ...good,
    async join(tx) {
      const client = tx as { query(text: string): Promise<unknown> }
      await client.query(statement.replace('carillon', `"${schema}"`))
      return joinOf(good)(tx)
    },
  })

/** Overlooks a key that is stored between its join and its accept, or while its accept waits. */
const overlooking =
  (since: 'join' | 'accept'): Change =>
  (good) => ({
    ...good,
    async join(tx) {
      const joined = await joinOf(good)(tx)
      const atJoin = await isKeyStored(good)
      return {
        ...joined,
        async accept(request) {
          const atAccept = await isKeyStored(good)
          const joinedAccept = await joined.accept(request)
          const overlooked = since === 'join' ? !atJoin && atAccept : !atAccept
          return overlooked ? asIfNew(joinedAccept, request) : joinedAccept
        },
      }
    },
  })

function joinOf({ join }: Storage<PostgresTransaction>): NonNullable<Storage<PostgresTransaction>['join']> {
  if (join === undefined) throw new Error('join is missing')
  return join
}

/** Whether the key of the contract is stored. */
async function isKeyStored(storage: Storage<PostgresTransaction>): Promise<boolean> {
  const key = { organizationId: 'org_default', operation: 'send', key: 'order-17' } as const
  return (await storage.findIdempotent([key]))[0] !== null
}

function asIfNew(joined: JoinedAccept, { notifications }: AcceptRequest): JoinedAccept {
  if (joined.answer.kind !== 'replayed') return joined
  return { ...joined, answer: { kind: 'accepted', admitted: notifications.length, createdAt: 0 } }
}

describeWith(whyNoPostgres(), 'postgres', () => {
  it('passes a join that is right', async () => {
    expect(await failures(PART, () => postgresHarness())).toEqual([])
  })

  it.each<[string, Change, string]>([
    [
      'holds one lock for all',
      joining('SELECT pg_advisory_xact_lock(4711)'),
      'an open one holds up no other work',
    ],
    [
      'locks its organization',
      joining(`SELECT 1 FROM carillon.r_organizations FOR UPDATE`),
      'an open one holds up no other work',
    ],
    [
      'knows the keys of its beginning',
      overlooking('join'),
      'a key that was stored since it began is replayed',
    ],
    ['knows the keys before it waited', overlooking('accept'), 'a key that another stores is replayed'],
  ])('finds a join that %s', async (_, change, found) => {
    expect(await failures(found, () => postgresHarness({ change }))).not.toEqual([])
  })
})
