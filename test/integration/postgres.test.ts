import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { fromStored } from '../../adapters/storage/postgres/text.ts'
import { bound } from '../../adapters/storage/postgres/values.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Fact } from '../../src/domain/facts.ts'
import type { AcceptAnswer } from '../../src/ports/storage/accept.ts'
import type { ClaimedJob } from '../../src/ports/storage/claim.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  endpoint,
  goneAndBack,
  idOf,
  LANE,
  note,
  notes,
  page,
  retried,
  sent,
  TEN,
} from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { tappedPool } from '../support/tapped-pool.ts'
import { tcpReceiver } from './support/receivers.ts'

const ORGANIZATION = 'org_default'
const quota = { period: '2026-11', limit: 100_000 }

const reason = whyNoPostgres(true)
const suite = (name: string, tests: () => void): void => describeWith(reason, name, tests)

let server: PostgresServer
const opened: Storage[] = []
const pools: pg.Pool[] = []

beforeAll(async () => {
  if (reason !== null) return
  server = await startPostgres()
})

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.stop()
  for (const pool of pools.splice(0)) await pool.end()
})

afterAll(() => server?.remove())

/** A storage of its own pool on a schema, like another process. */
async function open(schema: string, change: object = {}): Promise<Storage> {
  const storage = postgres({ connectionString: server.url, schema, ...change })
  opened.push(storage)
  await storage.start()
  return storage
}

async function two(): Promise<[Storage, Storage]> {
  const schema = uniqueSchema()
  return [await open(schema), await open(schema)]
}

/** The isolation that a transaction begins with is no COMMIT. */
const says = (text: string, part: string): boolean => text.replace('READ COMMITTED', '').includes(part)

const admittedOf = (answers: readonly AcceptAnswer[]): number =>
  answers.reduce((sum, answer) => sum + (answer.kind === 'accepted' ? answer.admitted : 0), 0)

suite('a start that no later try mends', () => {
  const startAt = (change: (url: URL) => void): Promise<void> => {
    const url = new URL(server.url)
    change(url)
    return postgres({ connectionString: url.href }).start()
  }

  it.each<[string, (url: URL) => void, string, string]>([
    [
      'a database that is not there',
      (url) => (url.pathname = '/nowhere'),
      '3D000',
      '"nowhere" does not exist',
    ],
    [
      'a role that is not there',
      (url) => (url.username = 'nobody-here'),
      '28000',
      '"nobody-here" does not exist',
    ],
  ])('%s is a fault of the configuration', async (_name, change, code, says) => {
    await expect(startAt(change)).rejects.toMatchObject({
      code: 'invalid_configuration',
      retryable: false,
      message: expect.stringContaining(says),
      cause: { code },
    })
  })

  it('a role that may create no schema is one, and a server that is away is not', async () => {
    await onPostgres(server.url, (client) => client.query('CREATE ROLE reader LOGIN'))
    await expect(startAt((url) => (url.username = 'reader'))).rejects.toMatchObject({
      code: 'invalid_configuration',
      cause: { code: '42501' },
    })
    await expect(startAt((url) => (url.port = '1'))).rejects.toMatchObject({
      code: 'service_unavailable',
      retryable: true,
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('a certificate that is not trusted, or not there, is one, and so is a server that encrypts nothing', async () => {
    const certificate = new URL('../fixtures/localhost.cert.pem', import.meta.url)
    const key = new URL('../fixtures/localhost.key.pem', import.meta.url)
    const refused = async (host: string, authority: string, says: RegExp): Promise<void> => {
      const change = (url: URL): void => {
        url.host = `${host}:${server.port}`
        url.search = String(new URLSearchParams({ sslmode: 'verify-full', sslrootcert: authority }))
      }
      await expect(startAt(change)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringMatching(says),
      })
    }
    await refused('127.0.0.1', certificate.pathname, /does not support SSL/)
    await refused('127.0.0.1', '/nowhere/ca.pem', /no such file .*\/nowhere\/ca\.pem/)
    await onPostgres(server.url, async (client) => {
      for (const [name, file] of [
        ['crt', certificate],
        ['key', key],
      ] as const) {
        const lines = readFileSync(file, 'utf8').trim().split('\n')
        await client.query(
          `COPY (SELECT unnest('{${lines}}'::text[])) TO PROGRAM 'umask 077; cat > server.${name}'`,
        )
      }
      await client.query('ALTER SYSTEM SET ssl = on')
      await client.query('SELECT pg_reload_conf()')
    })
    await eventually(async () => {
      const { rows } = await onPostgres(server.url, (client) => client.query('SHOW ssl'))
      return rows[0].ssl === 'on'
    })
    await refused('127.0.0.1', key.pathname, /self-signed certificate/)
    await refused('0x7f.1', certificate.pathname, /does not match certificate/)
  })
})

suite('two processes on one database', () => {
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

  it('lease no job twice, settle each once and begin no attempt under a lost lease', async () => {
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

  it('return what a process that ended had leased, by the clock of the database', async () => {
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

suite('a fault', () => {
  it('of one request leaves the others of its set stored', async () => {
    const [storage] = await two()
    const taken = note()
    await accept(storage, [taken])
    const unserializable = note({
      content: { template: { id: 't', name: 'n', version: 1 }, variables: { big: 1n } },
    })
    const requests = Array.from({ length: 40 }, (_, index) => ({
      organizationId: ORGANIZATION,
      notifications: index === 13 ? [note(), taken] : index === 31 ? [unserializable] : notes(2),
      quota,
    }))
    const answers = await storage.accept(requests)
    expect(
      answers.map(({ kind }, index) => (kind === 'failed' ? index : -1)).filter((index) => index >= 0),
    ).toEqual([13, 31])
    expect(await storage.quotaUsed(ORGANIZATION, quota.period)).toBe(76)
    expect((await claim(storage, 1_000)).length).toBe(77)
  })

  it('of one settlement leaves the others recorded, and its lease as it was', async () => {
    const [storage] = await two()
    await accept(storage, notes(9))
    const jobs = await claim(storage, 9)
    const answers = await storage.settle(
      jobs.map((job, index) =>
        ended(job, [index === 4 ? { ...sent(), durationMs: 1n as unknown as number } : sent()]),
      ),
    )
    expect(answers.map(({ kind }) => kind)).toEqual(
      jobs.map((_, index) => (index === 4 ? 'failed' : 'settled')),
    )
    expect(await storage.renew(jobs.slice(4, 5), 60_000)).toEqual([true])
  })

  it('of one report leaves the others recorded, and the same report new when it comes again', async () => {
    const [storage] = await two()
    await accept(storage, [note()])
    await storage.settle((await claim(storage)).map((job) => ended(job, [sent({ providerMessageId: 'm' })])))
    const report = (dedupeKey: string, change: object) => ({
      provider: 'smtp',
      organizationId: null,
      dedupeKey,
      fact: { type: 'opened', provider: 'smtp', providerMessageId: 'm', ...change } as Fact,
    })
    const reports = Array.from({ length: 20 }, (_, index) =>
      report(`${index % 15}`, index === 7 ? { occurredAt: 1n } : {}),
    )
    const answers = await storage.recordReceipts(reports)
    expect(answers.map(({ kind }) => kind)).toEqual(
      reports.map((_, index) => (index === 7 ? 'failed' : index < 15 ? 'recorded' : 'duplicate')),
    )
    expect(await storage.recordReceipts([report('7', {})])).toMatchObject([{ kind: 'recorded' }])
  })

  it('any text is kept as it is, wherever it stands', async () => {
    const [storage] = await two()
    const odd = 'a\u0000b\u001b0\u001b[\u{1F600}"\\ü\n'
    const [id = ''] = await accept(storage, [note({ to: odd })])
    expect((await storage.notifications.get(id))?.to).toBe(odd)
    expect(await storage.notifications.get(`${id}\u0000`)).toBeNull()
    const filter = { organizationId: ORGANIZATION, to: odd }
    expect((await storage.notifications.list(filter, page())).items.length).toBe(1)
    const entry = {
      organizationId: ORGANIZATION,
      channel: 'push',
      address: `${odd}${'x'.repeat(9_000)}`,
      reason: 'manual',
      source: odd,
    } as const
    await storage.suppressions.add(entry)
    expect(await storage.suppressions.match([entry])).toEqual(['manual'])
  })

  it('lists of any texts are read as they were given, but for halves of characters', async () => {
    const odd = fc.constantFrom(
      '"',
      '\\',
      '\u0000',
      '\u001b',
      '\n',
      '\ud800',
      '{',
      ',',
      'NULL',
      '\u2028',
      '\u{1F600}',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(odd).map((parts) => parts.join('')),
    )
    await onPostgres(server.url, (client) =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.option(text), { maxLength: 20 }), async (given) => {
          const { rows } = await client.query('SELECT $1::text[] AS list', [bound(given)])
          const list: (string | null)[] = rows[0].list
          expect(list.map((one) => (one === null ? null : fromStored(one)))).toEqual(
            given.map((one) => (one === null ? null : Buffer.from(one, 'utf8').toString())),
          )
        }),
        { numRuns: 300 },
      ),
    )
  })
})

suite('the schema', () => {
  it('is made once by eight that start at once, with partitions for three months', async () => {
    const schema = uniqueSchema()
    const storages = await Promise.all(TEN.slice(0, 8).map(() => open(schema)))
    expect(
      new Set(await Promise.all(storages.map((storage, index) => storage.putIfAbsent('k', String(index)))))
        .size,
    ).toBe(1)
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT count(*)::integer AS parts FROM pg_inherits WHERE inhparent = '"${schema}".notifications'::regclass`,
      ),
    )
    expect(rows).toEqual([{ parts: 4 }])
    const notifier = createNotifier({
      storage: storages[0] as Storage,
      channels: { email: recordingProvider() },
    })
    await notifier.start({ deliver: false })
    const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
    const { createdAt } = await notifier.notifications.get(id)
    const month = new Date(createdAt).toISOString().slice(0, 7).replace('-', '_')
    const found = await onPostgres(server.url, (client) =>
      client.query(`SELECT id FROM "${schema}".notifications_${month}`),
    )
    expect(found.rows).toEqual([{ id }])
    await notifier.stop()
  })

  it('is used while a backup reads it; months that are missing come later', async () => {
    const schema = uniqueSchema()
    await open(schema)
    const inTwoMonths = new Date()
    inTwoMonths.setUTCMonth(inTwoMonths.getUTCMonth() + 2, 1)
    const month = `notifications_${inTwoMonths.toISOString().slice(0, 7).replace('-', '_')}`
    const exists = async (): Promise<boolean> => {
      const { rows } = await onPostgres(server.url, (client) =>
        client.query('SELECT to_regclass($1) IS NOT NULL AS exists', [`"${schema}".${month}`]),
      )
      return rows[0].exists
    }
    await onPostgres(server.url, async (client) => {
      await client.query(`DROP TABLE "${schema}".${month}`)
      await client.query(`BEGIN; SELECT count(*) FROM "${schema}".notifications`)
      const storage = await open(schema)
      expect((await accept(storage, [note()])).length).toBe(1)
      expect(await exists()).toBe(false)
      await client.query('COMMIT')
    })
    await open(schema)
    expect(await exists()).toBe(true)
  })

  it('that is newer than the code is refused', async () => {
    const schema = uniqueSchema()
    await open(schema)
    await onPostgres(server.url, (client) =>
      client.query(`INSERT INTO "${schema}".schema_version (version) VALUES (999)`),
    )
    const late = postgres({ connectionString: server.url, schema })
    await expect(late.start()).rejects.toMatchObject({ code: 'invalid_configuration' })
    await late.stop()
  })
})

suite('a server that cannot be used', () => {
  it('is service_unavailable within the time limit: no connection free, none possible', async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 })
    pools.push(pool)
    const storage = await open(uniqueSchema(), { pool, connectionString: undefined, connectTimeoutMs: 2_000 })
    const held = await pool.connect()
    await expect(
      storage.accept([{ organizationId: ORGANIZATION, notifications: [note()] }]),
    ).rejects.toMatchObject({
      code: 'service_unavailable',
      cause: expect.any(Error),
    })
    held.release()
    expect((await storage.accept([{ organizationId: ORGANIZATION, notifications: [note()] }]))[0]?.kind).toBe(
      'accepted',
    )
    const nowhere = postgres({ connectionString: 'postgres://postgres@127.0.0.1:1/none' })
    await expect(nowhere.start()).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('and answers after the stop of a notifier that starts on it is left again', async () => {
    let answer = (): void => {}
    const answers = new Promise<void>((resolve) => (answer = resolve))
    const proxy = await tcpReceiver((client) => {
      void answers.then(() => {
        const upstream = connect(Number(new URL(server.url).port), '127.0.0.1')
        upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
        client.on('close', () => upstream.destroy())
        client.pipe(upstream).pipe(client)
      })
    })
    const through = new URL(server.url)
    through.host = `127.0.0.1:${proxy.port}`
    const schema = uniqueSchema()
    const storage = postgres({ connectionString: through.href, schema, connectTimeoutMs: 60_000 })
    const notifier = createNotifier({ channels: {}, storage })
    const started = expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
    await notifier.stop({ deadlineMs: 50 })
    await started
    answer()
    await proxy.drained()
    // It had opened, and stopped there.
    const direct = await open(schema)
    expect(await direct.putIfAbsent('secret', 'none was kept')).toBe('none was kept')
    await proxy.close()
  })

  it('and crashes amid accepts and settlements loses nothing that was answered, and doubles nothing', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const promised = new Set<string>()
    const settled = new Set<string>()
    let stopped = false
    async function acceptAlways(metered: boolean): Promise<void> {
      while (!stopped) {
        const notifications = notes(3)
        const request = { organizationId: ORGANIZATION, notifications, ...(metered ? { quota } : {}) }
        const answers = await storage.accept([request]).catch(() => [])
        if (answers[0]?.kind === 'accepted') for (const { id } of notifications) promised.add(id)
        else expect(answers).toEqual([])
      }
    }
    async function deliverAlways(): Promise<void> {
      while (!stopped) {
        const jobs = await claim(storage, 20).catch(() => [])
        const answers = await storage.settle(jobs.map((job) => ended(job))).catch(() => [])
        for (const [index, answer] of answers.entries()) {
          // A commit whose answer was lost was looked up: nothing of it is told to be another's.
          expect(answer.kind).toBe('settled')
          settled.add(idOf(jobs[index]) ?? '')
        }
      }
    }
    const work = [
      acceptAlways(false),
      acceptAlways(false),
      acceptAlways(true),
      deliverAlways(),
      deliverAlways(),
    ]
    for (let crash = 0; crash < 4; crash += 1) {
      const before = promised.size
      await eventually(() => promised.size > before + 50)
      await server.stop('immediate')
      await server.start()
    }
    const before = settled.size
    await eventually(() => settled.size > before)
    stopped = true
    await Promise.all(work)

    const { rows } = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT n.id, s.status, (SELECT count(*)::integer FROM "${schema}".events AS e WHERE e.notification = n.id) AS events,
           (SELECT count(*)::integer FROM "${schema}".jobs AS j WHERE j.subject = n.id) AS jobs
         FROM "${schema}".notifications AS n LEFT JOIN "${schema}".states AS s ON s.notification = n.id`,
      ),
    )
    const stored = new Map(rows.map((row) => [row.id, row]))
    for (const id of promised) expect(stored.has(id), id).toBe(true)
    for (const id of settled) expect(stored.get(id)).toMatchObject({ status: 'sent', events: 1, jobs: 0 })
    for (const row of stored.values()) {
      expect([row.events, row.jobs], row.id).toEqual(row.status === null ? [0, 1] : [1, 0])
    }
  })
})

suite('a COMMIT whose answer is lost', () => {
  /** A pool that, once armed, loses the answer to the first query with this text in it, after the server has done it. */
  function losing(part: string) {
    const real = new pg.Pool({ connectionString: server.url, max: 4 })
    pools.push(real)
    let armed = false
    return {
      pool: tappedPool(real, async (client, query) => {
        const result = await client.query(query)
        if (!armed || !says(query.text, part)) return result
        armed = false
        throw new Error('Connection terminated unexpectedly')
      }),
      arm() {
        armed = true
      },
      /** Whether nothing that was to be lost came by. */
      armed: () => armed,
    }
  }

  /** How often another process is told of work from now on. */
  async function listen(schema: string): Promise<() => number> {
    const other = await open(schema)
    let heard = 0
    other.onWork?.(() => {
      heard += 1
    })
    await eventually(() => heard === 1)
    return () => heard - 1
  }

  const idempotency = { organizationId: ORGANIZATION, operation: 'send', key: 'k', fingerprint: 'f' } as const

  it.each([
    ['COMMIT', { quota, idempotency: { ...idempotency, result: '{}', ttlMs: 60_000 } }],
    ['insert_3(', { quota }],
  ])('is looked up before an accept is answered, and others are told: %s', async (part, more) => {
    const { pool, arm, armed } = losing(part)
    const schema = uniqueSchema()
    const storage = await open(schema, { pool, connectionString: undefined })
    const told = await listen(schema)
    const notifications = notes(3)
    arm()
    const answers = await storage.accept([{ organizationId: ORGANIZATION, notifications, ...more }])
    expect(armed()).toBe(false)
    expect(answers).toMatchObject([{ kind: 'accepted', admitted: 3 }])
    expect((await claim(storage, 10)).map(idOf)).toEqual(notifications.map(({ id }) => id))
    expect(await storage.quotaUsed(ORGANIZATION, quota.period)).toBe(3)
    await eventually(() => told() > 0)
  })

  it('is looked up before a settlement is answered, and others are told of the events', async () => {
    const { pool, arm, armed } = losing('COMMIT')
    const schema = uniqueSchema()
    const before = await open(schema)
    await endpoint(before)
    await accept(before, notes(2))
    await before.stop()
    const storage = await open(schema, { pool, connectionString: undefined })
    const jobs = await claim(storage, 2)
    const told = await listen(schema)
    arm()
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    expect(armed()).toBe(false)
    expect(answers.map((answer) => answer.kind === 'settled' && answer.events.length)).toEqual([1, 1])
    await eventually(() => told() > 0)
  })

  it('is asked about for ten seconds, also at a host that goes without a word', async () => {
    const { pool, arm, armed } = losing('COMMIT')
    const silent = await tcpReceiver(() => {})
    const nobody = new pg.Pool({ connectionString: `postgres://postgres@127.0.0.1:${silent.port}/none` })
    let started = false
    let tries = 0
    const connect = (): Promise<unknown> => {
      if (!started || armed()) return pool.connect()
      tries += 1
      return nobody.connect()
    }
    const storage = await open(uniqueSchema(), {
      pool: { connect },
      connectionString: undefined,
      connectTimeoutMs: 2_000,
    })
    started = true
    arm()
    const request = {
      organizationId: ORGANIZATION,
      notifications: notes(1),
      idempotency: { ...idempotency, result: '{}', ttlMs: 60_000 },
    }
    await expect(storage.accept([request])).rejects.toMatchObject({ code: 'service_unavailable' })
    // Of two seconds each.
    expect(tries).toBeGreaterThan(1)
    expect(tries).toBeLessThan(7)
    await silent.close()
  })
})

suite('a notifier on PostgreSQL', () => {
  it('delivers what it and another process accept', async () => {
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

suite('a database whose texts are in the order of a language', () => {
  it('claims and settles all that lies between two ids in the order of bytes', async () => {
    const name = uniqueSchema()
    const made = await onPostgres(server.url, async (client) => {
      const { rows } = await client.query("SELECT current_setting('server_version_num')::integer AS version")
      // A server of before 15 has only the languages of its machine.
      if (rows[0].version < 150_000) return false
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`)
      return true
    })
    if (!made) return
    const url = new URL(server.url)
    url.pathname = name
    const storage = await open('carillon', { connectionString: url.href })
    const hook = await endpoint(storage)
    const ids = ['notif_a', 'notif_B', 'notif_c']
    await accept(
      storage,
      ids.map((id) => note({ id })),
    )
    const jobs = await claim(storage, 3)
    expect(jobs.map(idOf)).toEqual(ids)
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    expect(answers.map(({ kind }) => kind)).toEqual(['settled', 'settled', 'settled'])
    const { items } = await storage.notifications.list({ organizationId: ORGANIZATION }, page())
    expect(items.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent'])
    const events = await claim(storage, 3, hook.id)
    expect(events.map((job) => (job.kind === 'event' ? job.delivery.eventId : ''))).toEqual([
      'evt_a_2',
      'evt_B_2',
      'evt_c_2',
    ])
  })
})

suite('a notification that somebody has removed by hand', () => {
  const remove = (schema: string, id: string) =>
    onPostgres(server.url, (client) =>
      client.query(`DELETE FROM "${schema}".notifications WHERE id = $1`, [id]),
    )

  it('takes its job along, and no other', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const [first = '', gone = '', last = ''] = await accept(storage, notes(3))
    await remove(schema, gone)
    expect((await claim(storage, 2)).map(idOf)).toEqual([first])
    expect((await claim(storage, 2)).map(idOf)).toEqual([last])
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(`SELECT subject FROM "${schema}".jobs ORDER BY id`),
    )
    expect(rows.map(({ subject }) => subject)).toEqual([first, last])
  })

  it('and a delivery takes its job along, and no other of its endpoint', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const { id } = await endpoint(storage)
    await accept(storage, notes(5))
    for (let left = 5; left > 0; left -= 1) await deliver(storage)
    await onPostgres(server.url, (client) =>
      client.query(
        `DELETE FROM "${schema}".deliveries WHERE seq = (SELECT min(seq) FROM "${schema}".deliveries)`,
      ),
    )
    expect(await claim(storage, 1, id)).toEqual([])
    expect(await claim(storage, 5, id)).toHaveLength(4)
  })

  it('while it is delivered: its settlement fails, and no other', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const [, gone = ''] = await accept(storage, notes(3))
    const jobs = await claim(storage, 3)
    await remove(schema, gone)
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    expect(answers.map(({ kind }) => kind)).toEqual(['settled', 'failed', 'settled'])
  })
})

suite('an endpoint that is enabled while a claim puts its deliveries aside', () => {
  it('takes them', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const { id } = await endpoint(storage)
    await accept(storage, notes(3))
    for (let left = 3; left > 0; left -= 1) await deliver(storage)
    const setStatus = (status: string) =>
      `UPDATE "${schema}".webhook_endpoints SET status = '${status}' WHERE id = '${id}'`
    await onPostgres(server.url, async (client) => {
      await client.query(setStatus('disabled'))
      await client.query('BEGIN')
      await client.query(setStatus('active'))
      const claimed = claim(storage, 1, id)
      await eventually(() =>
        onPostgres(server.url, async (other) => {
          const { rows } = await other.query('SELECT 1 FROM pg_locks WHERE NOT granted')
          return rows.length > 0
        }),
      )
      await client.query('COMMIT')
      expect(await claimed).toEqual([])
    })
    expect(await claim(storage, 5, id)).toHaveLength(3)
  })
})

suite('what is done for each message', () => {
  it('walks along indexes, also when the statistics are those of empty tables', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema, { maxConnections: 1, listen: false })
    await onPostgres(server.url, (client) => client.query('ANALYZE'))
    const cycle = async (notifications = notes(0)): Promise<void> => {
      const accepted = [{ organizationId: ORGANIZATION, notifications, quota }]
      if (notifications.length > 0) await storage.accept(accepted)
      await storage.apiKeys.findByHash([Buffer.alloc(32, 1)])
      await storage.suppressions.match([
        { organizationId: ORGANIZATION, channel: 'email', address: 'nobody@example.com' },
      ])
      const jobs = await claim(storage, 100)
      const refs = jobs.map(({ jobId, token }) => ({ jobId, token, provider: 'smtp' }))
      await storage.startAttempts(refs.length > 0 ? refs : [{ jobId: '2', token: 1, provider: 'smtp' }])
      const unknown = { jobId: '2', token: 1 } as ClaimedJob
      const settlements = (jobs.length > 0 ? jobs : [unknown]).map((job, index) =>
        index % 2 === 0 ? ended(job) : retried(job, 0),
      )
      const answers = await storage.settle(settlements)
      if (jobs.length > 0) expect(answers.map(({ kind }) => kind)).toEqual(jobs.map(() => 'settled'))
    }
    // Plans are made, and kept, now: of nothing, and of a single row.
    for (let round = 0; round < 4; round += 1) await cycle()
    for (let round = 0; round < 4; round += 1) await cycle([note()])
    await storage.accept([{ organizationId: ORGANIZATION, notifications: notes(20_000) }])
    await onPostgres(server.url, (client) =>
      client.query(`
        INSERT INTO "${schema}".suppressions (created_at, hash, organization, channel, address, reason)
        SELECT 1, sha256(n::text::bytea), '${ORGANIZATION}', 'email', n::text, 'manual' FROM generate_series(1, 20000) AS n;
        INSERT INTO "${schema}".api_keys
          (created_at, hash, id, organization, name, permission, prefix, last4, allowed_ips)
        SELECT 1, sha256(n::text::bytea), n::text, '${ORGANIZATION}', '', '', '', '', '[]'
        FROM generate_series(1, 20000) AS n`),
    )
    const read = async (): Promise<Record<string, number>> => {
      const { rows } = await onPostgres(server.url, (client) =>
        client.query<{ relname: string; read: number }>(
          `SELECT relname, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
             + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid))::integer AS read
           FROM pg_stat_user_tables AS t WHERE schemaname = $1`,
          [schema],
        ),
      )
      return Object.fromEntries(rows.map((row) => [row.relname, row.read]))
    }
    const before = await read()
    for (let round = 0; round < 5; round += 1) await cycle()
    // What a session has read is told some seconds after it.
    const more = await eventually(async () => {
      const after = await read()
      const counts = Object.entries(after).map(
        ([table, count]) => [table, count - (before[table] ?? 0)] as const,
      )
      return counts.some(([table, count]) => table === 'jobs' && count >= 500) ? counts : null
    })
    expect(more.filter(([, count]) => count > 20_000)).toEqual([])
  })
})

suite('a long log of deliveries', () => {
  it('is not gone through by what looks at a part of it, of held ones and of what an endpoint has left', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema, { maxConnections: 1, listen: false })
    const { id: hook } = await endpoint(storage)
    await onPostgres(server.url, (client) =>
      client.query(`
        INSERT INTO "${schema}".deliveries
          (seq, created_at, event_id, endpoint, event_type, organization, state, payload)
        SELECT n, n, 'evt_' || lpad((extract(epoch FROM now()) * 1000 + n)::bigint::text, 13, '0'), '${hook}',
          'notification.sent', '${ORGANIZATION}', CASE WHEN n % 2 = 0 THEN 'held' ELSE 'failed' END, '{}'
        FROM generate_series(1, 100000) AS n ORDER BY random();
        ANALYZE "${schema}".deliveries`),
    )
    /** Entries of indexes that are read by twenty such calls, which need so many each. */
    async function readBy(needed: number, call: () => Promise<unknown>): Promise<number> {
      const read = async (): Promise<number> => {
        const { rows } = await onPostgres(server.url, (client) =>
          client.query<{ read: number }>(
            `SELECT sum(idx_tup_read)::integer AS read FROM pg_stat_user_indexes
             WHERE schemaname = $1 AND relname LIKE 'deliveries%'`,
            [schema],
          ),
        )
        return rows[0]?.read ?? 0
      }
      const before = await read()
      for (let round = 0; round < 20; round += 1) await call()
      // What a session has read is told some seconds after it.
      return eventually(async () => {
        const more = (await read()) - before
        return more >= 20 * needed ? more : null
      })
    }
    expect(await readBy(10_000, () => storage.backlog(10_000))).toBeLessThan(20 * 20_000)
    expect(await readBy(100, () => storage.webhookEndpoints.delete(hook, 100))).toBeLessThan(20 * 5_000)
  })

  it('is swept without compiling a plan whose estimate grows with it', async () => {
    const real = new pg.Pool({ connectionString: server.url, max: 2 })
    pools.push(real)
    const compiled: unknown[] = []
    const pool = tappedPool(real, async (client, query) => {
      if (!query.text.includes('LATERAL')) return client.query(query)
      await client.query('SET LOCAL jit_above_cost = 0')
      const text = `EXPLAIN (ANALYZE, FORMAT JSON) ${query.text}`
      const { rows } = await client.query({ text, values: query.values ?? [] })
      compiled.push(rows[0]['QUERY PLAN'][0].JIT)
      return client.query(query)
    })
    const storage = await open(uniqueSchema(), { pool, connectionString: undefined })
    await accept(storage, [note()])
    await deliver(storage)
    const swept = await storage.retention.sweep({ organizationId: ORGANIZATION, olderThanMs: 0, most: 10 })
    expect(swept).toMatchObject({ notifications: 1 })
    expect(compiled).toEqual([undefined, undefined])
  })
})

suite('what meets in the middle of a transaction', () => {
  /** A pool that, once armed, holds the first query with this text in it back until it is let go. */
  function holding(part: string) {
    const real = new pg.Pool({ connectionString: server.url, max: 4 })
    pools.push(real)
    let armed = false
    let reached = false
    let letGo = (): void => {}
    const open = new Promise<void>((resolve) => {
      letGo = resolve
    })
    return {
      pool: tappedPool(real, async (client, query) => {
        if (armed && says(query.text, part)) {
          armed = false
          reached = true
          await open
        }
        return client.query(query)
      }),
      arm() {
        armed = true
      },
      reached: () => reached,
      letGo: () => letGo(),
    }
  }

  /** Until `answer` is there, or waits for a lock of the other transaction. */
  async function answeredOrWaiting(answer: Promise<unknown>): Promise<void> {
    let answered = false
    void answer.then(() => {
      answered = true
    })
    await eventually(async () => {
      const { rows } = await onPostgres(server.url, (client) =>
        client.query('SELECT 1 FROM pg_locks WHERE NOT granted'),
      )
      return answered || rows.length > 0
    })
  }

  it('a report that comes while its hand-over is settled finds it', async () => {
    const schema = uniqueSchema()
    const gate = holding('COMMIT')
    const settling = await open(schema, { pool: gate.pool, connectionString: undefined })
    const reporting = await open(schema)
    const [id = ''] = await accept(settling, [note()])
    const [job] = await claim(settling, 1)
    if (job === undefined) throw new Error('no job')
    gate.arm()
    const settled = settling.settle([ended(job, [sent({ providerMessageId: 'm-1' })])])
    await eventually(gate.reached)
    const fact = { type: 'delivered', provider: 'smtp', providerMessageId: 'm-1' } as const
    const report = { provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }
    const answer = reporting.recordReceipts([report])
    await answeredOrWaiting(answer)
    gate.letGo()
    expect(await settled).toMatchObject([{ kind: 'settled' }])
    expect(await answer).toMatchObject([{ kind: 'recorded', notificationId: id }])
    expect((await reporting.notifications.get(id))?.status).toBe('delivered')
  })

  it('a delivery that is redelivered while it is removed is delivered, or not counted', async () => {
    const schema = uniqueSchema()
    const gate = holding('DELETE FROM')
    const sweeping = await open(schema, { pool: gate.pool, connectionString: undefined })
    const redelivering = await open(schema)
    const { id: hook } = await endpoint(redelivering)
    await redelivering.webhookEndpoints.update(hook, { status: 'disabled' })
    await accept(redelivering, [note()])
    const [job] = await claim(redelivering, 1)
    if (job === undefined) throw new Error('no job')
    await redelivering.settle([ended(job)])
    await redelivering.webhookEndpoints.update(hook, { status: 'active' })
    gate.arm()
    const swept = sweeping.retention.sweep({ organizationId: ORGANIZATION, olderThanMs: 0, most: 10 })
    await eventually(gate.reached)
    const redelivered = redelivering.webhookEndpoints.redeliver(hook, { since: 0, most: 10 })
    await answeredOrWaiting(redelivered)
    gate.letGo()
    expect(await swept).toMatchObject({ notifications: 1, deliveries: 1 })
    expect(await claim(redelivering, 10, hook)).toHaveLength(Number(await redelivered))
  })

  /** Settles one notification, whose event goes to this endpoint, while `meanwhile` happens between its look at it and its write. */
  async function announcing(
    status: 'active' | 'disabled',
    meanwhile: (storage: Storage, hook: string) => Promise<unknown>,
  ): Promise<{ readonly storage: Storage; readonly hook: string; readonly met: unknown }> {
    const schema = uniqueSchema()
    const gate = holding('delivery_numbers')
    const settling = await open(schema, { pool: gate.pool, connectionString: undefined })
    const storage = await open(schema)
    const { id: hook } = await endpoint(storage)
    await storage.webhookEndpoints.update(hook, { status })
    await accept(storage, [note()])
    const jobs = await claim(storage, 1)
    gate.arm()
    const settled = settling.settle(jobs.map((job) => ended(job)))
    await eventually(gate.reached)
    const met = meanwhile(storage, hook)
    await answeredOrWaiting(met)
    gate.letGo()
    expect(await settled).toMatchObject([{ kind: 'settled' }])
    return { storage, hook, met: await met }
  }

  it.each(['active', 'disabled'] as const)(
    'an event for an endpoint that is removed while it is %s leaves nothing behind',
    async (status) => {
      const { storage, hook, met } = await announcing(status, (other, id) =>
        other.webhookEndpoints.delete(id, 10),
      )
      expect(met).toBe('deleted')
      expect(await claim(storage, 10, hook)).toEqual([])
      expect(await storage.webhookEndpoints.deliveries({ endpointId: hook }, page())).toMatchObject({
        items: [],
      })
      expect(await storage.backlog(10)).toMatchObject({ lanes: [], held: 0 })
    },
  )

  it('an event for an endpoint that is enabled is found by the redelivery after it', async () => {
    const { storage, hook, met } = await announcing('disabled', async (other, id) => {
      await other.webhookEndpoints.update(id, { status: 'active' })
      return other.webhookEndpoints.redeliver(id, { since: 0, most: 10 })
    })
    expect(met).toBe(1)
    expect(await claim(storage, 10, hook)).toHaveLength(1)
  })

  it('a delivery that is settled while its endpoint is removed leaves no attempt behind', async () => {
    const schema = uniqueSchema()
    const gate = holding('COMMIT')
    const settling = await open(schema, { pool: gate.pool, connectionString: undefined })
    const storage = await open(schema)
    const { id: hook } = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const [job] = await claim(settling, 1, hook)
    if (job === undefined) throw new Error('no job')
    gate.arm()
    const attempt = { attempt: 1, status: 200, response: '', durationMs: 1, succeeded: true }
    const { jobId, token } = job
    const settled = settling.settle([
      { kind: 'event', jobId, token, attempt, ended: 'delivered', next: { kind: 'end' } },
    ])
    await eventually(gate.reached)
    const deleted = storage.webhookEndpoints.delete(hook, 10)
    await answeredOrWaiting(deleted)
    gate.letGo()
    expect(await settled).toMatchObject([{ kind: 'settled' }])
    expect(await deleted).toBe('deleted')
    const left = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT event_id FROM "${schema}".delivery_attempts UNION ALL SELECT event_id FROM "${schema}".deliveries`,
      ),
    )
    expect(left.rows).toEqual([])
  })
})
