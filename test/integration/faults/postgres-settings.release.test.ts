import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { claim, ended, idOf, note, notes } from '../../../src/testing/storage/fixtures.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWith } from '../../support/left-out.ts'
import { ownPostgres } from '../../support/own-postgres.ts'
import { uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'

const ORGANIZATION = 'org_default'
const missing = whyNoPostgres(true)
const TWENTY = Array.from({ length: 20 }, (_, index) => index)

async function open(server: { readonly url: string }, schema: string): Promise<Storage> {
  const storage = postgres({ connectionString: server.url, schema })
  onTestFinished(() => storage.stop())
  await storage.start()
  return storage
}

describeWith(missing, 'on a server that makes every transaction serializable', () => {
  const server = ownPostgres(["default_transaction_isolation = 'serializable'"])

  it('what meets is run again, and comes out as it does elsewhere', async () => {
    const schema = uniqueSchema()
    const both = await Promise.all([open(server, schema), open(server, schema)])
    const of = (index: number): Storage => both[index % 2] as Storage
    const quota = { period: '2026-11', limit: 50 }
    const idempotency = { operation: 'send', key: 'k', fingerprint: 'f', result: 'r', ttlMs: 60_000 } as const

    const stored = await Promise.all(
      TWENTY.map((index) =>
        of(index).accept([
          { organizationId: ORGANIZATION, notifications: notes(4), quota },
          {
            organizationId: ORGANIZATION,
            notifications: [note()],
            idempotency: { ...idempotency, organizationId: ORGANIZATION },
          },
          { organizationId: ORGANIZATION, notifications: [note()] },
        ]),
      ),
    )
    const admitted = stored
      .flat()
      .reduce((sum, answer) => sum + (answer.kind === 'accepted' ? answer.admitted : 0), 0)
    expect(admitted).toBe(50 + 1 + 20)
    expect(stored.flat().filter(({ kind }) => kind === 'failed')).toEqual([])

    const settled = new Map<string, number>()
    const deliver = async (index: number): Promise<void> => {
      for (;;) {
        // One that met others five times gives up, and is made again at the next poll.
        const jobs = await claim(of(index), 5).catch(() => null)
        if (jobs === null) continue
        if (jobs.length === 0) return
        const more = of(index + 1).accept([
          { organizationId: ORGANIZATION, notifications: [note({ lane: 'other/x' })] },
        ])
        for (const [place, answer] of (await of(index).settle(jobs.map((job) => ended(job)))).entries()) {
          const id = idOf(jobs[place]) ?? ''
          if (answer.kind === 'settled') settled.set(id, (settled.get(id) ?? 0) + 1)
        }
        expect((await more)[0]?.kind).toBe('accepted')
      }
    }
    await Promise.all([0, 1, 2, 3].map(deliver))
    expect(settled.size).toBe(admitted)
    expect([...settled.values()].every((times) => times === 1)).toBe(true)
  })
})

describeWith(missing, 'with a pool of one or two connections', () => {
  const server = ownPostgres()

  it.each([1, 2])('%i: hundreds of callers are served in turn, while it delivers', async (maxConnections) => {
    const email = recordingProvider()
    const notifier = createNotifier({
      storage: postgres({
        connectionString: server.url,
        schema: uniqueSchema(),
        maxConnections,
        // Longer than the last in turn waits on a busy machine.
        connectTimeoutMs: 60_000,
      }),
      channels: { email },
      delivery: { pollMs: 50 },
    })
    onTestFinished(() => notifier.stop())
    await notifier.start()
    const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const
    const sent = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const { id } = await notifier.send(
          message,
          index % 2 === 0 ? { idempotencyKey: `k${index % 50}` } : {},
        )
        return (await notifier.notifications.get(id)).id
      }),
    )
    const ids = new Set(sent)
    expect(ids.size).toBe(150 + 25)
    await eventually(() => email.calls.length >= ids.size)
    expect(email.calls.length).toBe(ids.size)
  })

  it('that others hold, calls end within their time, and say in the cause what to change', async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 })
    const notifier = createNotifier({
      storage: postgres({ pool, schema: uniqueSchema(), connectTimeoutMs: 2_000 }),
      channels: { email: recordingProvider() },
    })
    await notifier.start({ deliver: false })
    const held = await pool.connect()
    const sends = await Promise.allSettled(
      TWENTY.map((index) => notifier.send({ channel: 'email', to: 'ada@example.com', body: `${index}` })),
    )
    for (const send of sends) {
      if (send.status === 'fulfilled') throw new Error('stored without a connection')
      expect(send.reason).toMatchObject({ code: 'service_unavailable', status: 503 })
      expect(String(send.reason.cause)).toMatch(/within 2000 ms .*maxConnections/)
    }
    held.release()
    await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
    await notifier.stop()
    await pool.end()
  })
})
