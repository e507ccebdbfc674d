import { expect, it } from 'vitest'
import type { PostgresTransaction } from '../../../adapters/storage/postgres/transaction-handles.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  Joined,
  JoinedTransaction,
} from '../../../src/core/ports/storage/accept.ts'
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

/** Changes notifications otherwise. */
const changing =
  (
    change: (
      joined: JoinedTransaction,
      good: Storage<PostgresTransaction>,
      query: (statement: string) => Promise<unknown>,
    ) => Partial<JoinedTransaction>,
  ): Change =>
  (good, schema) => ({
    ...good,
    async join(tx) {
      const joined = await joinOf(good)(tx)
      const client = tx as { query(text: string): Promise<unknown> }
      const query = (statement: string) => client.query(statement.replaceAll('carillon', `"${schema}"`))
      return { ...joined, ...change(joined, good, query) }
    },
  })

const outside =
  (told: boolean) =>
  async <Answer>(answer: Promise<Answer>): Promise<Joined<Answer>> => ({
    answer: await answer,
    committed: Promise.resolve(told),
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

function asIfNew(joined: Joined<AcceptAnswer>, { notifications }: AcceptRequest): Joined<AcceptAnswer> {
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
    [
      'cancels at once',
      changing((_, { notifications }) => ({
        cancel: (id, content) => outside(false)(notifications.cancel(id, content)),
      })),
      'a change that is rolled back leaves it as it was',
    ],
    [
      'moves at once',
      changing((_, { notifications }) => ({
        reschedule: (id, sendAt) => outside(false)(notifications.reschedule(id, sendAt)),
      })),
      'a change that is rolled back leaves it as it was',
    ],
    [
      'tells a commit before it comes',
      changing((joined) => ({
        cancel: async (id, content) => ({
          ...(await joined.cancel(id, content)),
          committed: Promise.resolve(true),
        }),
      })),
      'a change that is rolled back leaves it as it was',
    ],
    [
      'keeps the content of what is cancelled',
      changing((joined) => ({ cancel: (id) => joined.cancel(id) })),
      'a cancel that is committed holds',
    ],
    [
      'knows only notifications that are committed',
      changing((joined, { notifications }) => ({
        reschedule: async (id, sendAt) =>
          (await notifications.get(id)) === null
            ? { answer: { kind: 'unknown' }, committed: Promise.resolve(false) }
            : joined.reschedule(id, sendAt),
      })),
      'what was accepted in it can be moved and cancelled in it',
    ],
    [
      'locks the job that it does not change',
      changing((joined, _, query) => ({
        async cancel(id, content) {
          await query(`SELECT 1 FROM carillon.jobs WHERE subject = '${id}' FOR UPDATE`)
          return joined.cancel(id, content)
        },
      })),
      'a change of a leased job lets its process go on',
    ],
    [
      'locks the jobs of all',
      changing((joined, _, query) => ({
        async reschedule(id, sendAt) {
          await query('SELECT 1 FROM carillon.jobs FOR UPDATE')
          return joined.reschedule(id, sendAt)
        },
      })),
      'a change keeps no other job waiting',
    ],
    [
      'changes what another one has cancelled',
      changing((joined, _, query) => ({
        async reschedule(id, sendAt) {
          const { answer, committed } = await joined.reschedule(id, sendAt)
          if (answer.kind !== 'ended') return { answer, committed }
          await query(`UPDATE carillon.notifications SET send_at = ${sendAt} WHERE id = '${id}'`)
          return { answer: { kind: 'rescheduled' }, committed }
        },
      })),
      'a change after that of another is refused once that is committed',
    ],
  ])('finds a join that %s', async (_, change, found) => {
    expect(await failures(found, () => postgresHarness({ change }))).not.toEqual([])
  })
})
