import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { type PostgresTransaction, postgres } from '../../adapters/storage/postgres/index.ts'
import { perMinutePlans, UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { type RecordingProvider, recordingProvider } from '../../src/testing/recording-provider.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { WAIT_MS } from '../support/patience.ts'
import { uniqueSchema } from '../support/postgres.ts'
import { type Writer, writers } from '../support/transaction-handles.ts'

const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const

const server = ownPostgres()
let schema: string
let email: RecordingProvider
let notifier: Notifier<PostgresTransaction>
let all: Writer[]
let accepted: string[]

/** Without polls: it delivers what it learns to be committed. */
async function open(pollMs = 60_000): Promise<Notifier<PostgresTransaction>> {
  const opened = createNotifier({
    storage: postgres({ connectionString: server.url, schema, listen: false }),
    channels: { email },
    plans: { ...perMinutePlans, org_default: { ...UNLIMITED, notificationsPerMonth: 5 } },
    delivery: { pollMs },
  })
  opened.on('notification.accepted', ({ data }) => void accepted.push(data.id))
  await opened.start()
  return opened
}

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => {})
  onTestFinished(() => client.end().catch(() => {}))
  await client.connect()
  return client
}

async function ordersOf(): Promise<string[]> {
  const { rows } = await (await connected()).query<{ id: string }>(`SELECT id FROM "${schema}".orders`)
  return rows.map(({ id }) => id)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describeWithOwnPostgres('a transaction of an application', () => {
  beforeAll(async () => {
    all = writers(server.url)
  })
  afterAll(async () => {
    for (const writer of all) await writer.end()
  })
  beforeEach(async () => {
    schema = uniqueSchema()
    email = recordingProvider()
    accepted = []
    notifier = await open()
    await (await connected()).query(`CREATE TABLE "${schema}".orders (id text)`)
  })
  afterEach(async () => {
    await notifier.stop()
  })

  const names = [
    'pg',
    'Kysely',
    'Kysely with renamed columns',
    'Drizzle',
    'Drizzle, nested',
    'Knex',
    'Knex, nested',
  ]
  const writerOf = (name: string): Writer => {
    const found = all.find((writer) => writer.name === name)
    if (found === undefined) throw new Error(`no ${name}`)
    return found
  }

  it.each(names)('of %s sends its notifications after a commit, and none after a rollback', async (name) => {
    const writer = writerOf(name)
    const failed = new Error('the order cannot be')
    const refused = writer.transaction(async (tx, run) => {
      await run(`INSERT INTO "${schema}".orders VALUES ('1')`)
      await notifier.send(message, { tx, idempotencyKey: 'order' })
      throw failed
    })
    await expect(refused).rejects.toBe(failed)
    const sent = await writer.transaction(async (tx, run) => {
      await run(`INSERT INTO "${schema}".orders VALUES ('2')`)
      const first = await notifier.send(message, { tx, idempotencyKey: 'order' })
      const { items } = await notifier.sendBatch([message, { ...message, to: 'no address' }, message], { tx })
      await pause(50)
      expect([email.calls.length, accepted]).toEqual([0, []])
      return [first.id, ...items.flatMap((item) => ('id' in item ? [item.id] : []))]
    })
    await expect.poll(() => email.calls.length).toBe(3)
    expect(email.calls.map(({ context }) => context.notificationId).sort()).toEqual(sent.toSorted())
    expect(accepted.sort()).toEqual(sent.toSorted())
    expect(await ordersOf()).toEqual(['2'])
    expect((await notifier.limits.get()).limits.notificationsPerMonth?.used).toBe(3)
  })

  it.each(names)('of %s is refused, and stores nothing, if it has ended or never began', async (name) => {
    const writer = writerOf(name)
    let ended: PostgresTransaction | undefined
    await writer.transaction(async (tx) => {
      ended = tx
    })
    for (const tx of [ended, writer.outside]) {
      await expect(notifier.send(message, { tx: tx as PostgresTransaction })).rejects.toMatchObject({
        code: 'invalid_transaction',
      })
    }
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it.each(names)('of %s goes on after a refused send', async (name) => {
    await writerOf(name).transaction(async (tx, run) => {
      await run(`INSERT INTO "${schema}".orders VALUES ('1')`)
      const { accepted: admitted } = await notifier.sendBatch(Array(7).fill(message), { tx })
      expect(admitted).toBe(5)
      await expect(notifier.send(message, { tx })).rejects.toMatchObject({
        code: 'notification_quota_exceeded',
      })
      await run(`INSERT INTO "${schema}".orders VALUES ('2')`)
    })
    expect(await ordersOf()).toEqual(['1', '2'])
    await expect.poll(() => email.calls.length).toBe(5)
  })

  it('keeps the uploads that it names, and nobody waits for it', async () => {
    const about = { filename: 'a.txt', contentType: 'text/plain' }
    const { id } = await notifier.attachments.upload('YQ==', about)
    const unused = await notifier.attachments.upload('Yg==', about)
    const naming = { ...message, email: { attachments: [{ id }] } }
    const other = await open()
    try {
      await writerOf('pg').transaction(async (tx) => {
        await notifier.send(naming, { tx })
        // Each would wait for the end of the transaction, and so for ever.
        await other.send(naming)
        await other.attachments.delete(id)
        await other.attachments.delete(unused.id)
        const ended = { ...message, email: { attachments: [{ id: unused.id }] } }
        await expect(notifier.send(ended, { tx })).rejects.toMatchObject({ code: 'unknown_attachment' })
      })
      await expect.poll(() => email.messages.length, { timeout: WAIT_MS }).toBe(2)
      for (const { email: parts } of email.messages)
        expect(parts?.attachments?.map(({ content }) => content)).toEqual([Buffer.from('a')])
    } finally {
      await other.stop()
    }
  })

  it.each(names)('of %s looks up what a send needs', async (name) => {
    const tenant = notifier.organization((await notifier.organizations.create({ name: 'Acme' })).id)
    const odd = 'it\'s "\\ \u0000 \u001b $1 ? :a ü'
    await tenant.templates.create({ name: 'hi', channel: 'email', body: `${odd} {{name}}` })
    await tenant.suppressions.add({ channel: 'email', to: 'eve@example.com', reason: 'manual' })
    const templated = { to: message.to, template: 'hi', variables: { name: 'Ada' } }
    await writerOf(name).transaction(async (tx) => {
      const options = { tx, idempotencyKey: 'k' }
      const first = await tenant.send(templated, options)
      // Its record is visible here, and nowhere else yet.
      expect(await tenant.send(templated, options)).toEqual({ ...first, replayed: true })
      const resent = await tenant.notifications.resend(first.id, { tx })
      expect(resent.id).not.toBe(first.id)
      for (const [wrong, code] of [
        [{ ...templated, to: 'eve@example.com' }, 'blocked_recipient'],
        [{ ...templated, template: 'none' }, 'template_not_found'],
        [{ ...templated, variables: {} }, 'invalid_template_variable'],
      ] as const) {
        await expect(tenant.send(wrong, { tx })).rejects.toMatchObject({ code })
      }
    })
    await expect.poll(() => email.messages.map(({ body }) => body)).toEqual([`${odd} Ada`, `${odd} Ada`])
  })

  it.each(names)('of %s moves and cancels with a commit, and leaves all with a rollback', async (name) => {
    const { notifications } = notifier
    const later = { ...message, sendAt: new Date(Date.now() + 3_600_000) }
    const far = new Date(Date.now() + 7_200_000)
    const moved = await notifier.send(later)
    const gone = await notifier.send({ ...later, sensitive: true })
    const told: string[] = []
    notifier.on('notification.cancelled', ({ data }) => void told.push(data.id))
    const refused = writerOf(name).transaction(async (tx) => {
      await notifications.reschedule(moved.id, { sendAt: null }, { tx })
      await notifications.cancel(gone.id, { tx })
      throw new Error('no booking')
    })
    await expect(refused).rejects.toThrow('no booking')
    expect(await notifications.get(moved.id)).toMatchObject({
      status: 'scheduled',
      sendAt: later.sendAt.toISOString(),
    })
    const own = await writerOf(name).transaction(async (tx, run) => {
      await run(`INSERT INTO "${schema}".orders VALUES ('1')`)
      const { sendAt, waiting, timeline } = await notifications.reschedule(moved.id, { sendAt: far }, { tx })
      expect([sendAt, waiting?.until, timeline.length]).toEqual([far.toISOString(), far.toISOString(), 2])
      expect(await notifications.cancel(gone.id, { tx })).toMatchObject({
        status: 'cancelled',
        waiting: null,
      })
      const sent = await notifier.send(later, { tx })
      await notifications.reschedule(sent.id, { sendAt: null }, { tx })
      await expect(notifications.cancel('notif_0', { tx })).rejects.toMatchObject({
        code: 'notification_not_found',
      })
      await expect(notifications.cancel(gone.id, { tx })).rejects.toMatchObject({ code: 'not_cancellable' })
      await pause(50)
      expect([told, email.calls.length]).toEqual([[], 0])
      return sent.id
    })
    await expect.poll(() => told).toEqual([gone.id])
    await expect.poll(() => email.calls.map(({ context }) => context.notificationId)).toEqual([own])
    expect((await notifications.get(moved.id)).sendAt).toBe(far.toISOString())
    expect(await ordersOf()).toEqual(['1'])
  })

  it.each(names)('of %s moves and cancels nothing if it has ended or never began', async (name) => {
    const writer = writerOf(name)
    const { id } = await notifier.send({ ...message, sendAt: new Date(Date.now() + 3_600_000) })
    let ended: PostgresTransaction | undefined
    await writer.transaction(async (tx) => {
      ended = tx
    })
    for (const tx of [ended, writer.outside] as PostgresTransaction[]) {
      const refused = { code: 'invalid_transaction' }
      await expect(notifier.notifications.cancel(id, { tx })).rejects.toMatchObject(refused)
      const move = notifier.notifications.reschedule(id, { sendAt: null }, { tx })
      await expect(move).rejects.toMatchObject(refused)
    }
    expect(await notifier.notifications.get(id)).toMatchObject({ status: 'scheduled', timeline: [{}] })
  })

  it('changes nothing if it ends between the lock and the write, nor for another organization', async () => {
    const { id } = await notifier.send({ ...message, sendAt: new Date(Date.now() + 3_600_000) })
    const client = await connected()
    for (const end of ['COMMIT', 'ROLLBACK']) {
      await client.query('BEGIN')
      const impatient = {
        async query(text: string) {
          const answer = await client.query(text)
          if (text.includes('hold_in_1')) await client.query(end)
          return answer
        },
      }
      await expect(notifier.notifications.cancel(id, { tx: impatient })).rejects.toMatchObject({
        code: 'invalid_transaction',
        details: { reason: 'not_open' },
      })
    }
    const other = notifier.organization((await notifier.organizations.create({ name: 'Acme' })).id)
    await client.query('BEGIN')
    await expect(other.notifications.cancel(id, { tx: client })).rejects.toMatchObject({
      code: 'organization_mismatch',
    })
    await client.query('COMMIT')
    expect(await notifier.notifications.get(id)).toMatchObject({ status: 'scheduled', timeline: [{}] })
    await notifier.notifications.cancel(id)
  })

  it('that is rolled back to a savepoint leaves what it had changed since', async () => {
    const { id } = await notifier.send({ ...message, sendAt: new Date(Date.now() + 3_600_000) })
    const told: string[] = []
    notifier.on('notification.cancelled', ({ data }) => void told.push(data.id))
    const client = await connected()
    await client.query('BEGIN')
    await client.query('SAVEPOINT here')
    await notifier.notifications.cancel(id, { tx: client })
    await client.query('ROLLBACK TO here')
    await notifier.notifications.reschedule(id, { sendAt: null }, { tx: client })
    await client.query('COMMIT')
    await expect.poll(() => email.calls.length).toBe(1)
    await pause(300)
    expect(told).toEqual([])
  })

  it('needs no other connection of its pool', async () => {
    const { id } = await notifier.organizations.create({ name: 'Acme' })
    await notifier.organization(id).templates.create({ name: 'hi', channel: 'email', body: 'hi' })
    const pool = new pg.Pool({ connectionString: server.url, max: 1 })
    pool.on('error', () => {})
    const storage = postgres({ pool, schema, connectTimeoutMs: 2_000 })
    const narrow = createNotifier({ storage, channels: { email } })
    await narrow.start({ deliver: false })
    const tenant = narrow.organization(id)
    const client = await pool.connect()
    await client.query('BEGIN')
    const templated = { to: message.to, template: 'hi' }
    await tenant.send(templated, { tx: client, idempotencyKey: 'k' })
    await tenant.sendBatch([templated, message], { tx: client })
    const { id: later } = await tenant.send(
      { ...message, sendAt: new Date(Date.now() + 3_600_000) },
      { tx: client },
    )
    await tenant.notifications.cancel(later, { tx: client })
    await client.query('COMMIT')
    client.release()
    expect((await tenant.notifications.list()).items.length).toBe(4)
    await narrow.stop()
    await pool.end()
  })

  it('that is rolled back to a savepoint drops the notifications after it, and their events', async () => {
    const client = await connected()
    await client.query('BEGIN')
    const kept = await notifier.send(message, { tx: client })
    await client.query('SAVEPOINT here')
    await notifier.send(message, { tx: client })
    await client.query('ROLLBACK TO here')
    await client.query('COMMIT')
    await expect.poll(() => email.calls.length).toBe(1)
    await pause(300)
    expect([email.calls.length, accepted]).toEqual([1, [kept.id]])
  })

  it('takes several sends at once, in any order', async () => {
    const client = await connected()
    await client.query('BEGIN')
    const warned: unknown[] = []
    const hear = (warning: Error): void => void warned.push(warning)
    process.on('warning', hear)
    const sent = await Promise.all([1, 2, 3].map(() => notifier.send(message, { tx: client })))
    await client.query('COMMIT')
    process.off('warning', hear)
    expect(warned).toEqual([])
    await expect.poll(() => accepted.sort()).toEqual(sent.map(({ id }) => id).sort())
  })

  it('that ends during a send stores nothing', async () => {
    const client = await connected()
    await client.query('BEGIN')
    const impatient = {
      async query(text: string) {
        const answer = await client.query(text)
        if (text.includes('current_xact_id')) await client.query('ROLLBACK')
        return answer
      },
    }
    await expect(notifier.send(message, { tx: impatient })).rejects.toMatchObject({
      code: 'invalid_transaction',
      details: { reason: 'not_open' },
    })
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it.each([
    ['has failed before', ['BEGIN', 'SELECT 1/0'], 'unusable'],
    ['only reads', ['BEGIN READ ONLY'], 'unusable'],
    ['is of a role that may not write', ['CREATE ROLE guest', 'BEGIN', 'SET LOCAL ROLE guest'], 'unusable'],
  ])('that %s is refused', async (_, statements, reason) => {
    const client = await connected()
    for (const statement of statements) await client.query(statement).catch(() => {})
    await expect(notifier.send(message, { tx: client })).rejects.toMatchObject({
      code: 'invalid_transaction',
      details: { reason },
      cause: expect.any(Error),
    })
    await client.query('ROLLBACK')
  })

  it('whose connection is lost is refused', async () => {
    const client = await connected()
    await client.query('BEGIN')
    await client.end()
    await expect(notifier.send(message, { tx: client })).rejects.toMatchObject({
      code: 'invalid_transaction',
    })
  })

  it('of another database is refused, and can go on', async () => {
    const admin = await connected()
    const name = uniqueSchema()
    await admin.query(`CREATE DATABASE ${name}`)
    const url = server.url.replace(/\/postgres$/, `/${name}`)
    const elsewhere = new pg.Client({ connectionString: url })
    onTestFinished(() => elsewhere.end().catch(() => {}))
    await elsewhere.connect()
    await elsewhere.query('BEGIN')
    const refused = { code: 'invalid_transaction', details: { reason: 'other_database' } }
    await expect(notifier.send(message, { tx: elsewhere })).rejects.toMatchObject(refused)
    // Also one that has a storage of its own, with the same schema.
    const twin = createNotifier({
      storage: postgres({ connectionString: url, schema, listen: false }),
      channels: { email },
    })
    await twin.start({ deliver: false })
    await expect(notifier.send(message, { tx: elsewhere })).rejects.toMatchObject(refused)
    await twin.send(message, { tx: elsewhere })
    await elsewhere.query('COMMIT')
    expect((await twin.notifications.list()).items.length).toBe(1)
    await twin.stop()
  })

  it('keeps its settings', async () => {
    const client = await connected()
    const settings = ['search_path', 'enable_seqscan', 'lock_timeout', 'statement_timeout', 'jit']
    const shown = async (): Promise<string[]> => {
      const found: string[] = []
      for (const one of settings) found.push((await client.query(`SHOW ${one}`)).rows[0][one])
      return found
    }
    await client.query('BEGIN')
    await client.query(`SET LOCAL search_path = "${schema}"; SET LOCAL standard_conforming_strings = off`)
    const before = await shown()
    await notifier.send({ ...message, body: `it's \\ " $1 ? :a` }, { tx: client, idempotencyKey: 'k' })
    expect(await shown()).toEqual(before)
    await client.query('COMMIT')
    await email.waitFor({ body: `it's \\ " $1 ? :a` }, { withinMs: WAIT_MS })
  })

  it('that is serializable and conflicts with another must run again', async () => {
    const [one, other] = [await connected(), await connected()]
    for (const client of [one, other]) {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      await client.query('SELECT 1')
    }
    await notifier.send(message, { tx: one, idempotencyKey: 'k' })
    const late = notifier.send(message, { tx: other, idempotencyKey: 'k' })
    const refused = expect(late).rejects.toMatchObject({
      code: 'service_unavailable',
      retryable: true,
      cause: { code: '40001' },
    })
    await pause(200)
    await one.query('COMMIT')
    await refused
    await other.query('ROLLBACK')
  })

  it('that stays open delays no other send', async () => {
    const client = await connected()
    await client.query('BEGIN')
    const { id } = await notifier.send(message, { tx: client, idempotencyKey: 'k' })
    const [same, ...others] = await Promise.allSettled([
      notifier.send(message, { idempotencyKey: 'k' }),
      notifier.send(message, { idempotencyKey: 'another' }),
      notifier.send(message),
      notifier.sendBatch([message], { idempotencyKey: 'k' }),
    ])
    expect(same).toMatchObject({
      status: 'rejected',
      reason: { code: 'idempotency_in_progress', retryAfterMs: 1_000 },
    })
    expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    await client.query('COMMIT')
    expect(await notifier.send(message, { idempotencyKey: 'k' })).toMatchObject({ id, replayed: true })
  })

  it('is told the present status when a key is repeated', async () => {
    const later = { ...message, sendAt: new Date(Date.now() + 3_600_000) }
    const one = await notifier.send(later, { idempotencyKey: 'k' })
    const { items } = await notifier.sendBatch([later, later], { idempotencyKey: 'k' })
    const ids = [one.id, ...items.map((item) => ('id' in item ? item.id : ''))]
    for (const id of ids.slice(0, 2)) await notifier.notifications.cancel(id)
    const client = await connected()
    await client.query('BEGIN')
    const options = { tx: client, idempotencyKey: 'k' }
    const again = await notifier.send(later, options)
    expect(again).toMatchObject({ id: ids[0], status: 'cancelled', replayed: true })
    const batch = await notifier.sendBatch([later, later], options)
    expect(batch.items).toMatchObject([
      { id: ids[1], status: 'cancelled' },
      { id: ids[2], status: 'scheduled' },
    ])
    await client.query('COMMIT')
  })

  it('waits for another one with its key, and is replayed after a commit or accepted after a rollback', async () => {
    for (const end of ['ROLLBACK', 'COMMIT']) {
      const [one, other] = [await connected(), await connected()]
      await one.query('BEGIN')
      await other.query('BEGIN')
      await notifier.send(message, { tx: one, idempotencyKey: 'k' })
      let answered = false
      const late = notifier.send(message, { tx: other, idempotencyKey: 'k' }).finally(() => {
        answered = true
      })
      await pause(200)
      expect(answered).toBe(false)
      await one.query(end)
      expect((await late).replayed).toBe(end === 'COMMIT')
      await other.query('ROLLBACK')
    }
  })

  it('counts against the quota, and its count is added up later', async () => {
    const client = await connected()
    for (const end of ['COMMIT', 'ROLLBACK', 'COMMIT']) {
      await client.query('BEGIN')
      await notifier.send(message, { tx: client })
      await client.query(end)
    }
    const { rows: added } = await client.query(
      `SELECT (SELECT coalesce(sum(used), 0)::integer FROM "${schema}".usage)
         + (SELECT coalesce(sum(used), 0)::integer FROM "${schema}".usage_additions) AS both`,
    )
    expect(added).toEqual([{ both: 2 }])
    const count = async (): Promise<unknown> =>
      (
        await client.query(
          `SELECT (SELECT sum(used)::integer FROM "${schema}".usage) AS folded,
             (SELECT count(*)::integer FROM "${schema}".usage_additions) AS open`,
        )
      ).rows[0]
    await expect.poll(count).toEqual({ folded: 2, open: 0 })
    const { accepted: admitted } = await notifier.sendBatch(Array(9).fill(message))
    expect(admitted).toBe(3)
  })

  it('is found by polls after the death of its process', async () => {
    const api = await open()
    const worker = await open(100)
    const client = await connected()
    await client.query('BEGIN')
    await notifier.stop()
    await api.send(message, { tx: client })
    await api.stop()
    await client.query('COMMIT')
    await email.waitFor({ to: message.to }, { withinMs: WAIT_MS })
    await worker.stop()
  })

  it('may include a resend', async () => {
    const { id } = await notifier.send(message)
    await email.waitFor({ to: message.to }, { withinMs: WAIT_MS })
    const client = await connected()
    await client.query('BEGIN')
    await notifier.notifications.resend(id, { tx: client })
    await client.query('ROLLBACK')
    await client.query('BEGIN')
    const again = await notifier.notifications.resend(id, { tx: client })
    await client.query('COMMIT')
    await expect.poll(() => email.calls.length).toBe(2)
    expect((await notifier.notifications.get(again.id)).resendOf).toBe(id)
  })
})
