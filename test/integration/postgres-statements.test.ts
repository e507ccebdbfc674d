import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Fact } from '../../src/core/notification/facts.ts'
import type { AcceptRequest } from '../../src/core/ports/storage/accept.ts'
import type { ClaimedJob, StartRef } from '../../src/core/ports/storage/claim.ts'
import type { ReceiptRecord } from '../../src/core/ports/storage/receipts.ts'
import type { Settlement } from '../../src/core/ports/storage/settle.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  claim,
  ended,
  endpoint,
  note,
  notes,
  organization,
  page,
  retried,
  sent,
  start,
  unique,
} from '../../src/testing/storage/fixtures.ts'
import { CONTRACT_START, insertion, itemKind, keeping } from '../../src/testing/storage/record-fixtures.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { tappedPool } from '../support/tapped-pool.ts'

const ORGANIZATION = 'org_default'
const FEW = 3
const MANY = 60
const FAILED: Fact = { type: 'failed', attempt: 1, provider: 'smtp', code: 'provider_error' }

/** What one call has the database do. */
interface Told {
  readonly statements: string[]
  over: boolean
}

/** Who asks is known from where the call began: what a timer does later belongs to nobody. */
const asking = new AsyncLocalStorage<Told>()

async function statementsOf(call: () => Promise<unknown>): Promise<string[]> {
  const told: Told = { statements: [], over: false }
  await asking.run(told, call)
  told.over = true
  return told.statements.filter((statement) => !statement.includes('pg_notify'))
}

async function open(): Promise<{ readonly storage: Storage; readonly schema: string }> {
  const real = new pg.Pool({ connectionString: await sharedPostgres(), max: 4 })
  const schema = uniqueSchema()
  const within = new WeakSet<pg.PoolClient>()
  const pool = tappedPool(real, (client, query) => {
    const told = asking.getStore()
    // A text without values may hold several.
    const texts = query.values === undefined ? query.text.split(';') : [query.text]
    if (told !== undefined && !told.over)
      told.statements.push(...texts.map((text) => (within.has(client) ? `in it: ${text}` : text)))
    if (query.text.startsWith('BEGIN')) within.add(client)
    if (/^(COMMIT|ROLLBACK)/.test(query.text)) within.delete(client)
    return client.query(query)
  })
  const storage = postgres({ pool: pool as never, schema })
  onTestFinished(async () => {
    await storage.stop()
    await real.end()
  })
  await storage.start(CONTRACT_START)
  return { storage, schema }
}

const lane = (): string => `email/${unique()}`

async function claimed(storage: Storage, count: number): Promise<readonly ClaimedJob[]> {
  const own = lane()
  await accept(storage, notes(count, { lane: own }))
  const jobs = await claim(storage, count, own)
  expect(jobs).toHaveLength(count)
  return jobs
}

async function begun(storage: Storage, count: number): Promise<readonly ClaimedJob[]> {
  const jobs = await claimed(storage, count)
  await start(storage, jobs)
  return jobs
}

/** So many deliveries to one endpoint of an organization of their own. */
async function events(storage: Storage, count: number): Promise<readonly ClaimedJob[]> {
  const id = await organization(storage)
  const hook = await endpoint(storage, { organizationId: id })
  const own = lane()
  await accept(storage, notes(count, { lane: own }), id)
  await storage.settle((await claim(storage, count, own)).map((job) => ended(job)))
  const jobs = await claim(storage, count, hook.id)
  expect(jobs).toHaveLength(count)
  await start(storage, jobs, hook.id)
  return jobs
}

const post = ({ jobId, token }: ClaimedJob, succeeded: boolean): Settlement => ({
  kind: 'event',
  jobId,
  token,
  attempt: { attempt: 1, status: succeeded ? 200 : 500, response: '', durationMs: 1, succeeded },
  next: succeeded ? { kind: 'end' } : { kind: 'retry', delayMs: 1_000 },
  ...(succeeded ? { ended: 'delivered' as const } : {}),
})

const report = (providerMessageId: string, address?: string): ReceiptRecord => ({
  provider: 'smtp',
  organizationId: null,
  dedupeKey: unique(),
  fact: { type: 'delivered', provider: 'smtp', providerMessageId, ...(address && { address }) },
})

const requests = (count: number, change: Partial<AcceptRequest> = {}): AcceptRequest[] =>
  Array.from({ length: count }, () => ({ organizationId: ORGANIZATION, notifications: [note()], ...change }))

const keyed = (request: AcceptRequest): AcceptRequest => ({
  ...request,
  idempotency: {
    organizationId: request.organizationId,
    operation: 'send',
    key: unique(),
    fingerprint: 'f',
    result: 'r',
    ttlMs: 60_000,
  },
})

const organizations = (storage: Storage, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => organization(storage)))

/** Prepares a set of so many, and gives the call that does it. */
type Prepare = (storage: Storage, count: number) => Promise<() => Promise<unknown>>

const CALLS: readonly (readonly [string, Prepare])[] = [
  ['accept of as many requests', async (storage, count) => () => storage.accept(requests(count))],
  ['accept of one request', async (storage, count) => () => accept(storage, notes(count))],
  [
    'accept with keys',
    async (storage, count) => () => storage.accept(requests(count).map((request) => keyed(request))),
  ],
  [
    'accept with keys that were there',
    async (storage, count) => {
      const again = requests(count).map(keyed)
      await storage.accept(again)
      return () => storage.accept(again.map((request) => ({ ...request, notifications: [note()] })))
    },
  ],
  [
    'accept of as many organizations with quotas',
    async (storage, count) => {
      const quota = { period: '2026-11', limit: 1_000_000 }
      const all = (await organizations(storage, count)).map((organizationId) => ({ organizationId, quota }))
      return () => storage.accept(all.flatMap((one) => requests(1, one)))
    },
  ],
  [
    'accept of as many organizations whose quotas end',
    async (storage, count) => {
      const quota = { period: '2026-11', limit: 1 }
      const all = (await organizations(storage, count)).map((organizationId) => ({ organizationId, quota }))
      return () => storage.accept(all.flatMap((one) => requests(2, one)))
    },
  ],
  [
    'findIdempotent',
    async (storage, count) => {
      const keys = requests(count).flatMap((request) => keyed(request).idempotency ?? [])
      return () => storage.findIdempotent(keys)
    },
  ],
  [
    'claim',
    async (storage, count) => {
      const own = lane()
      for (const id of await organizations(storage, 3)) await accept(storage, notes(count, { lane: own }), id)
      return () => claim(storage, 3 * count, own)
    },
  ],
  [
    'claim of expired leases, of which half had begun',
    async (storage, count) => {
      const own = lane()
      await accept(storage, notes(2 * count, { lane: own }))
      const { jobs } = await storage.claim({ lanes: [{ lane: own, free: 2 * count }], leaseMs: 1 })
      const refs: StartRef[] = jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))
      await storage.renew(jobs, 60_000)
      await storage.startAttempts(refs.slice(count))
      await storage.renew(jobs, 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
      return async () => expect(await claim(storage, 2 * count, own)).toHaveLength(count)
    },
  ],
  [
    'startAttempts',
    async (storage, count) => {
      const jobs = await claimed(storage, count)
      return () => start(storage, jobs)
    },
  ],
  [
    'renew',
    async (storage, count) => {
      const jobs = await claimed(storage, count)
      return () => storage.renew(jobs, 60_000)
    },
  ],
  [
    'release',
    async (storage, count) => {
      const jobs = await claimed(storage, count)
      return () => storage.release(jobs)
    },
  ],
  [
    'settle, with events for an endpoint',
    async (storage, count) => {
      const jobs = await begun(storage, count)
      return () => storage.settle(jobs.map((job) => ended(job, [sent({ providerMessageId: unique() })])))
    },
  ],
  [
    'settle of what is tried again',
    async (storage, count) => {
      const jobs = await begun(storage, count)
      return () => storage.settle(jobs.map((job) => retried(job, 60_000)))
    },
  ],
  [
    'settle of what suppresses its recipients',
    async (storage, count) => {
      const own = lane()
      const each = Array.from({ length: count }, () => note({ lane: own, to: `${unique()}@example.com` }))
      await accept(storage, each)
      const jobs = await claim(storage, count, own)
      await start(storage, jobs)
      const fact: Fact = { ...FAILED, code: 'blocked_recipient', suppress: 'hard_bounce' }
      return () => storage.settle(jobs.map((job) => ended(job, [fact])))
    },
  ],
  [
    'settle of what was reported before',
    async (storage, count) => {
      const jobs = await begun(storage, count)
      const named = jobs.map((job) => [job, unique()] as const)
      await storage.recordReceipts(named.map(([, message]) => report(message)))
      return () =>
        storage.settle(named.map(([job, providerMessageId]) => ended(job, [sent({ providerMessageId })])))
    },
  ],
  [
    'settle of events that arrived',
    async (storage, count) => {
      const jobs = await events(storage, count)
      return () => storage.settle(jobs.map((job) => post(job, true)))
    },
  ],
  [
    'settle of events that did not',
    async (storage, count) => {
      const jobs = await events(storage, count)
      return () => storage.settle(jobs.map((job) => post(job, false)))
    },
  ],
  [
    'recordReceipts',
    async (storage, count) => {
      const jobs = await begun(storage, count)
      const named = jobs.map((job) => [job, unique()] as const)
      await storage.settle(named.map(([job, providerMessageId]) => ended(job, [sent({ providerMessageId })])))
      return () => storage.recordReceipts(named.map(([, message]) => report(message)))
    },
  ],
  [
    'recordReceipts of what nobody knows',
    async (storage, count) => () =>
      storage.recordReceipts(Array.from({ length: count }, () => report(unique()))),
  ],
  [
    'retry',
    async (storage, count) => {
      const id = await organization(storage)
      const own = lane()
      await accept(storage, notes(count, { lane: own }), id)
      await storage.settle((await claim(storage, count, own)).map((job) => ended(job, [FAILED])))
      const asked = { filter: { organizationId: id }, lanes: { email: own }, most: 1_000 }
      return async () => expect((await storage.notifications.retry(asked)).retried).toBe(count)
    },
  ],
  [
    'judgeAgain',
    async (storage, count) => {
      const id = await organization(storage)
      const delayedFor = { address: 'email ada', recipient: null }
      await accept(storage, notes(count, { dueAt: 9_000_000_000_000, delayedFor }), id)
      const asked = { organizationId: id, of: { by: 'all' }, most: 1_000 } as const
      return async () => expect((await storage.notifications.judgeAgain(asked)).moved).toBe(count)
    },
  ],
  [
    'redeliver',
    async (storage, count) => {
      const jobs = await events(storage, count)
      const failed = { ended: 'failed', next: { kind: 'end' } } as const
      await storage.settle(jobs.map((job) => ({ ...post(job, false), ...failed }) as Settlement))
      const hook = jobs[0]?.lane ?? ''
      return async () =>
        expect(await storage.webhookEndpoints.redeliver(hook, { since: 0, most: 1_000 })).toBe(count)
    },
  ],
  [
    'a step of the retention',
    async (storage, count) => {
      const organizationId = (await events(storage, count))[0]?.organizationId ?? ''
      const asked = { what: { organizationId, olderThanMs: -1_000 }, most: 1_000 }
      return () => storage.expire(asked)
    },
  ],
  [
    'the looks before a send',
    async (storage, count) => {
      const each = Array.from({ length: count }, () => unique())
      const refs = each.flatMap((text) => [{ id: text }, { key: text }])
      return () => storage.records.get(itemKind, refs)
    },
  ],
  [
    'a record with others that are kept if they are stored',
    async (storage, count) => {
      const value = { reason: 'manual', source: null }
      const others = Array.from({ length: count }, () => keeping(unique(), ORGANIZATION, value))
      return async () => {
        const [answer] = await storage.records.write([[insertion(), ...others]])
        expect(answer).toMatchObject({ kind: 'written', records: { length: count + 1 } })
      }
    },
  ],
  [
    'the lists',
    async (storage, count) => {
      const organizationId = await organization(storage)
      await accept(storage, notes(count), organizationId)
      return async () => {
        const found = await storage.notifications.list({ organizationId }, page())
        expect(found.items).toHaveLength(count)
        await storage.logs.list({ organizationId }, page())
      }
    },
  ],
]

describeWith(whyNoPostgres(), 'what PostgreSQL is asked', () => {
  it.each(CALLS)('is as many statements for sixty as for three: %s', async (_, prepare) => {
    const { storage } = await open()
    await endpoint(storage)
    const told = async (count: number): Promise<string[]> => {
      const call = await prepare(storage, count)
      return statementsOf(call)
    }
    await told(FEW)
    const few = await told(FEW)
    expect(few.length).toBeGreaterThan(0)
    expect(await told(MANY)).toHaveLength(few.length)
  })

  it.each([
    ['not read for a report about the address', 'ADA@example.com', 0],
    ['read for one about another', 'bob@example.com', 1],
  ])('about copies is %s', async (_, address, reads) => {
    const { storage } = await open()
    const asksForCopies = async (call: () => Promise<unknown>): Promise<number> =>
      (await statementsOf(call)).filter((statement) => statement.includes('copies')).length
    const [first, second] = await begun(storage, 2)
    const messages = [unique(), unique()]
    const settle = (job: ClaimedJob | undefined, at: number) =>
      storage.settle([ended(job as ClaimedJob, [sent({ providerMessageId: messages[at] })])])
    await settle(first, 0)
    expect(await asksForCopies(() => storage.recordReceipts([report(messages[0] ?? '', address)]))).toBe(
      reads,
    )
    await storage.recordReceipts([report(messages[1] ?? '', address)])
    expect(await asksForCopies(() => settle(second, 1))).toBe(reads)
  })

  it('is to notify others outside of every other transaction, and seldom', async () => {
    const { storage, schema } = await open()
    const notified: string[] = []
    const told: Told = { statements: notified, over: false }
    const began = performance.now()
    await asking.run(told, async () => {
      for (let round = 0; round < 20; round += 1) {
        await Promise.all(
          Array.from({ length: 20 }, (_unused, index) =>
            storage.accept(index % 2 === 0 ? requests(1) : requests(1).map((request) => keyed(request))),
          ),
        )
      }
    })
    const lasted = performance.now() - began
    const sends = notified.filter((statement) => /notify/i.test(statement))
    // A statement of its own, and its own transaction.
    expect(new Set(sends)).toEqual(new Set(['SELECT pg_notify($1, $2)::text']))
    expect(sends.length).toBeLessThanOrEqual(lasted / 24 + 2)
    const inside = await onPostgres(await sharedPostgres(), (client) =>
      client.query(
        `SELECT p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE n.nspname = $1 AND p.prosrc ~* 'notify'
         UNION ALL SELECT t.tgname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
         JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_proc AS p ON p.oid = t.tgfoid
         WHERE n.nspname = $1 AND p.pronamespace <> n.oid AND NOT t.tgisinternal`,
        [schema],
      ),
    )
    expect(inside.rows).toEqual([])
  })
})
