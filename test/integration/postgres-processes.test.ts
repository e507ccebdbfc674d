import { expect, it } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { AcceptAnswer } from '../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import {
  accept,
  claim,
  ended,
  endpoint,
  goneAndBack,
  idOf,
  LANE,
  note,
  notes,
  TEN,
} from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { uniqueSchema } from '../support/postgres.ts'

const ORGANIZATION = 'org_default'
const server = ownPostgres()

async function two(): Promise<[Storage, Storage]> {
  const schema = uniqueSchema()
  return [await server.open(schema), await server.open(schema)]
}

const admittedOf = (answers: readonly AcceptAnswer[]): number =>
  answers.reduce((sum, answer) => sum + (answer.kind === 'accepted' ? answer.admitted : 0), 0)

describeWithOwnPostgres('two processes on one database', () => {
  it('never exceed a quota, and store an idempotent request once', async () => {
    const both = await two()
    const limited = { period: '2026-11', limit: 25 }
    const idempotency = { operation: 'send', key: 'k', fingerprint: 'f', result: 'r', ttlMs: 60_000 } as const
    const answers = await Promise.all(
      TEN.map((index) =>
        both[index % 2]?.accept([
          { organizationId: ORGANIZATION, notifications: notes(4), quota: limited },
          {
            organizationId: ORGANIZATION,
            notifications: notes(1),
            idempotency: { ...idempotency, organizationId: ORGANIZATION },
          },
        ]),
      ),
    )
    const [metered, named] = [0, 1].map((place) => answers.map((answer) => answer?.[place]))
    expect(admittedOf(metered?.flatMap((answer) => answer ?? []) ?? [])).toBe(25)
    expect(named?.filter((answer) => answer?.kind === 'accepted').length).toBe(1)
    expect(named?.filter((answer) => answer?.kind === 'replayed').length).toBe(9)
    expect(await both[0].quotaUsed(ORGANIZATION, '2026-11')).toBe(25)
  })

  it('number the events about an endpoint together', async () => {
    const [a, b] = await two()
    const hook = await endpoint(a)
    const told: unknown[] = []
    for (const storage of [a, b, b, a]) told.push(await goneAndBack(storage, hook))
    expect(told).toEqual([1, 2, 3, 4])
  })

  it('lease each job once, settle it once and begin no attempt under a lost lease', async () => {
    const [a, b] = await two()
    const ids = await accept(a, notes(400))
    const claims = await Promise.all(TEN.flatMap((index) => claim([a, b][index % 2] as Storage, 50)))
    const jobs = claims.flat()
    expect(new Set(jobs.map(idOf)).size).toBe(jobs.length)
    const rest = [...(await claim(a, 1_000)), ...(await claim(b, 1_000))]
    expect([...jobs, ...rest].map(idOf).sort()).toEqual(ids.toSorted())
    const settled = await Promise.all(
      [a, b, a, b].map((storage) => storage.settle(jobs.map((job) => ended(job)))),
    )
    for (const index of jobs.keys()) {
      expect(settled.filter((answers) => answers[index]?.kind === 'settled').length).toBe(1)
    }
    const refs = rest.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))
    await a.release(rest)
    expect(await b.startAttempts(refs)).toEqual(refs.map(() => false))
  })

  it('record one of two equal receipts, cancel once, retry once and redeliver once', async () => {
    const both = await two()
    const [a] = both
    const hook = await endpoint(a)
    const [first = '', second = ''] = await accept(a, notes(2))
    const fact = { type: 'delivered', provider: 'smtp', providerMessageId: 'm-1' } as const
    const report = { provider: 'smtp', organizationId: null, dedupeKey: 'd', notificationId: first, fact }
    const kinds = await Promise.all(TEN.map((index) => (both[index % 2] as Storage).recordReceipts([report])))
    expect(kinds.flat().filter(({ kind }) => kind === 'recorded').length).toBe(1)
    const cancels = await Promise.all(
      TEN.map((index) => (both[index % 2] as Storage).notifications.cancel(second)),
    )
    expect(cancels.filter(({ kind }) => kind === 'cancelled').length).toBe(1)

    const dead = await accept(a, notes(20, { lane: 'sms/x' }))
    const jobs = await claim(a, 20, 'sms/x')
    await a.settle(jobs.map((job) => ended(job, [{ type: 'failed', attempt: 1, code: 'provider_error' }])))
    const request = { filter: { organizationId: ORGANIZATION }, lanes: { email: 'sms/x' }, most: 1_000 }
    const retried = await Promise.all(
      TEN.map((index) => (both[index % 2] as Storage).notifications.retry(request)),
    )
    expect(retried.reduce((sum, answer) => sum + answer.retried, 0)).toBe(dead.length)

    const events = await claim(a, 100, hook.id)
    await a.settle(
      events.map(({ jobId, token }) => ({
        kind: 'event',
        jobId,
        token,
        ended: 'failed',
        next: { kind: 'end' },
      })),
    )
    const redelivered = await Promise.all(
      TEN.map((index) =>
        (both[index % 2] as Storage).webhookEndpoints.redeliver(hook.id, { since: 0, most: 9 }),
      ),
    )
    const made = redelivered.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0)
    expect(made).toBe(events.length)
    expect((await claim(a, 100, hook.id)).length).toBe(events.length)
  })

  it('reclaim the leases of a dead process by the clock of the database', async () => {
    const [a, b] = await two()
    const [id] = await accept(a, [note()])
    const { jobs } = await a.claim({ lanes: [{ lane: LANE, free: 1 }], leaseMs: 300 })
    expect(
      await a.startAttempts(jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))),
    ).toEqual([true])
    const again = await eventually(async () => {
      const answer = await b.claim({ recovered: [LANE], leaseMs: 60_000 })
      return answer.jobs.length > 0 ? answer.jobs : undefined
    })
    expect(again.map((job) => [idOf(job), job.attempts, job.recovered])).toEqual([[id, 1, true]])
    expect(await a.settle(jobs.map((job) => ended(job)))).toEqual([{ kind: 'stale' }])
  })

  it("hear of each other's work without polling", async () => {
    const [a, b] = await two()
    let heard = 0
    b.onWork?.(() => {
      heard += 1
    })
    const before = await eventually(() => (heard > 0 ? heard : undefined))
    await accept(a, [note()])
    await eventually(() => heard > before)
  })
})

describeWithOwnPostgres('a notifier on PostgreSQL', () => {
  it('delivers notifications that another process accepted', async () => {
    const schema = uniqueSchema()
    const channel = recordingProvider()
    const make = (): ReturnType<typeof createNotifier> =>
      createNotifier({
        storage: postgres({ connectionString: server.url, schema }),
        channels: { email: channel },
        delivery: { pollMs: 60_000 },
      })
    const [api, worker] = [make(), make()]
    await worker.start()
    await api.start({ deliver: false })
    const ids = await Promise.all(
      TEN.map(async () => (await api.send({ channel: 'email', to: 'ada@example.com', body: 'x' })).id),
    )
    await eventually(async () => {
      const found = await Promise.all(ids.map((id) => api.notifications.get(id)))
      return found.every(({ status }) => status === 'sent')
    })
    expect(channel.calls.length).toBe(ids.length)
    await Promise.all([api.stop(), worker.stop()])
  })
})
