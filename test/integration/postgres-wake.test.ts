import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { hashOf } from '../../adapters/storage/postgres/hash.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { AcceptRequest } from '../../src/core/ports/storage/accept.ts'
import type { ClaimedJob } from '../../src/core/ports/storage/claim.ts'
import type { ReceiptRecord } from '../../src/core/ports/storage/receipts.ts'
import type { Settlement } from '../../src/core/ports/storage/settle.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../src/core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  idOf,
  LANE,
  note,
  notes,
  retried,
  sent,
  start,
} from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

describeWith(whyNoPostgres(), 'the number of messages to other processes', () => {
  let url: string
  beforeAll(async () => {
    url = await sharedPostgres()
  })

  type Opened = ReturnType<typeof postgres>
  type Work = (storage: Opened) => Promise<unknown>

  /** A process that opens a storage, does this and stops. */
  async function withStorage<Answer>(
    schema: string,
    work: (storage: Opened) => Promise<Answer>,
  ): Promise<Answer> {
    const storage = postgres({ connectionString: url, schema })
    await storage.start()
    try {
      return await work(storage)
    } finally {
      await storage.stop()
    }
  }

  /** How many messages a process sends to the others for this work. They arrive in the order of commits, the fence last. */
  async function toldBy(schema: string, work: Work): Promise<number> {
    const channel = `carillon_${hashOf(schema).slice(0, 16)}`
    const told: (string | undefined)[] = []
    return onPostgres(url, async (client: pg.Client) => {
      client.on('notification', ({ payload }) => told.push(payload))
      await client.query(`LISTEN ${channel}`)
      await withStorage(schema, work)
      await onPostgres(url, (other) => other.query('SELECT pg_notify($1, $2)', [channel, 'fence']))
      await eventually(() => told.includes('fence'))
      return told.length - 1
    })
  }

  const FAILED = { ...sent(), type: 'failed', code: 'provider_error' } as const
  const ATTEMPT = { attempt: 1, status: 500, response: '', durationMs: 1, succeeded: false } as const
  const organizationId = DEFAULT_ORGANIZATION

  async function claimed(storage: Storage, change = {}): Promise<ClaimedJob> {
    await accept(storage, [note(change)])
    return claimOne(storage)
  }

  async function started(storage: Storage): Promise<ClaimedJob> {
    const job = await claimed(storage)
    await start(storage, [job])
    return job
  }

  /** A delivery under way to an endpoint; answers it with the settlement of its failure. */
  async function posted(storage: Storage): Promise<{ hook: string; job: ClaimedJob; failure: Settlement }> {
    const { id: hook } = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const job = await claimOne(storage, hook)
    await start(storage, [job], hook)
    const { jobId, token } = job
    const failure = { kind: 'event', jobId, token, attempt: ATTEMPT, next: { kind: 'end' } } as const
    return { hook, job, failure }
  }

  const delivered = (notificationId: string | undefined): ReceiptRecord => ({
    organizationId: null,
    provider: 'smtp',
    dedupeKey: `of ${notificationId}`,
    notificationId,
    fact: { type: 'delivered', attempt: 1, provider: 'smtp' },
  })

  const request = (change: Partial<AcceptRequest> = {}): AcceptRequest => ({
    organizationId,
    notifications: [note()],
    ...change,
  })

  const keyed = request({
    idempotency: {
      organizationId,
      operation: 'send',
      key: 'one',
      fingerprint: 'f',
      result: '{}',
      ttlMs: 60_000,
    },
  })

  const retry = { filter: { organizationId }, lanes: { email: LANE }, most: 10 }

  async function deadLetter(storage: Storage): Promise<void> {
    await accept(storage, [note()])
    await deliver(storage, [FAILED])
  }

  /** `prepare` runs before the listener; `told` is the number of messages for the work that it returns. */
  const CASES: readonly (readonly [
    name: string,
    told: number,
    prepare: (storage: Storage) => Promise<Work>,
  ])[] = [
    ['an accept', 1, async () => (s) => s.accept([request()])],
    ['an accept under a key', 1, async () => (s) => s.accept([keyed])],
    [
      'an accept that is repeated',
      0,
      async (s) => {
        await s.accept([keyed])
        return (s) => s.accept([keyed])
      },
    ],
    [
      'an accept that is scheduled, which others sleep past if they do not learn of it',
      1,
      async () => (s) => s.accept([request({ notifications: [note({ sendAt: Date.now() + 60_000 })] })]),
    ],
    [
      'an accept in a transaction of the caller, when that has been committed',
      1,
      async () => (s) =>
        onPostgres(url, async (client) => {
          await client.query('BEGIN')
          const joined = await s.join?.(client).then((transaction) => transaction.accept(request()))
          await client.query('COMMIT')
          expect(await joined?.committed).toBe(true)
        }),
    ],
    [
      'outcomes of which nothing follows',
      0,
      async (s) => {
        await accept(s, notes(20))
        const jobs = await claim(s, 20)
        await start(s, jobs)
        return async (s) => {
          for (const job of jobs) await s.settle([ended(job)])
        }
      },
    ],
    [
      'an outcome that an endpoint wants to hear of',
      1,
      async (s) => {
        await endpoint(s)
        const job = await started(s)
        return (s) => s.settle([ended(job)])
      },
    ],
    [
      'an outcome that only disabled endpoints want to hear of, or of others',
      0,
      async (s) => {
        const { id } = await endpoint(s)
        await s.webhookEndpoints.update(id, { status: 'disabled' })
        await endpoint(s, { events: ['notification.failed'] })
        const job = await started(s)
        return (s) => s.settle([ended(job)])
      },
    ],
    [
      'a retry with a delay',
      0,
      async (s) => {
        const job = await started(s)
        return (s) => s.settle([retried(job, 60_000)])
      },
    ],
    [
      'a retry at once, with which its own process goes on',
      0,
      async (s) => {
        const job = await started(s)
        return (s) => s.settle([retried(job, 0)])
      },
    ],
    [
      'a claim that is returned',
      1,
      async (s) => {
        const job = await claimed(s)
        return (s) => s.release([job])
      },
    ],
    [
      'a claim that cannot be returned, because its attempt began',
      0,
      async (s) => {
        const job = await started(s)
        return (s) => s.release([job])
      },
    ],
    [
      'leases that have ended',
      1,
      async (s) => {
        await accept(s, [note()])
        const { jobs } = await s.claim({ lanes: [{ lane: LANE, free: 1 }], leaseMs: 1 })
        expect(jobs).toHaveLength(1)
        return (s) =>
          eventually(async () => (await s.claim({ lanes: [], leaseMs: 1_000 })).lanes.length === 1)
      },
    ],
    [
      'dead letters that are retried',
      1,
      async (s) => {
        await deadLetter(s)
        return async (s) => expect((await s.notifications.retry(retry)).retried).toBe(1)
      },
    ],
    [
      'dead letters that are retried later, or only counted',
      0,
      async (s) => {
        await deadLetter(s)
        return async (s) => {
          expect((await s.notifications.retry({ ...retry, dryRun: true })).retried).toBe(1)
          const dueAt = Date.now() + 60_000
          expect((await s.notifications.retry({ ...retry, dueAt })).retried).toBe(1)
        }
      },
    ],
    [
      'events that are redelivered',
      1,
      async (s) => {
        const { hook, failure } = await posted(s)
        await s.settle([failure])
        return async (s) => expect(await s.webhookEndpoints.redeliver(hook, { since: 0, most: 10 })).toBe(1)
      },
    ],
    [
      'a redelivery of nothing',
      0,
      async (s) => {
        const { hook } = await posted(s)
        return async (s) => expect(await s.webhookEndpoints.redeliver(hook, { since: 0, most: 10 })).toBe(0)
      },
    ],
    [
      'an event that is sent again by hand',
      1,
      async (s) => {
        const { hook, job, failure } = await posted(s)
        await s.settle([failure])
        return (s) => s.webhookEndpoints.redeliver(hook, { eventId: idOf(job) ?? '' })
      },
    ],
    [
      'an event that need not wait for its next attempt',
      1,
      async (s) => {
        const { hook, job, failure } = await posted(s)
        await s.settle([{ ...failure, next: { kind: 'retry', delayMs: 60_000 } } as Settlement])
        return (s) => s.webhookEndpoints.redeliver(hook, { eventId: idOf(job) ?? '' })
      },
    ],
    [
      'a receipt that an endpoint wants to hear of',
      1,
      async (s) => {
        await endpoint(s)
        const job = await started(s)
        await s.settle([ended(job)])
        return (s) => s.recordReceipts([delivered(idOf(job))])
      },
    ],
    [
      'a receipt that no endpoint wants to hear of',
      0,
      async (s) => {
        const job = await started(s)
        await s.settle([ended(job)])
        return (s) => s.recordReceipts([delivered(idOf(job))])
      },
    ],
    [
      'a cancellation that an endpoint wants to hear of',
      1,
      async (s) => {
        await endpoint(s, { events: ['notification.cancelled'] })
        const [id = ''] = await accept(s, [note()])
        return (s) => s.notifications.cancel(id)
      },
    ],
    [
      'an endpoint that is gone, where another one wants to hear of it',
      1,
      async (s) => {
        await endpoint(s, { events: ['webhook.disabled'] })
        const { failure } = await posted(s)
        return (s) => s.settle([{ ...failure, disable: 'gone' } as Settlement])
      },
    ],
  ]

  it.each(CASES)('%s: %i', async (_name, told, prepare) => {
    const schema = uniqueSchema()
    const work = await withStorage(schema, prepare)
    expect(await toldBy(schema, work)).toBe(told)
  })

  it('includes those that a stop finds unsent', async () => {
    const told = await toldBy(uniqueSchema(), async (storage) => {
      await storage.accept([request()])
      await storage.accept([request()])
    })
    expect(told).toBe(2)
  })
})
