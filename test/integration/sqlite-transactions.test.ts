import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SqliteTransaction, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { perMinutePlans, UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { type RecordingProvider, recordingProvider } from '../../src/testing/recording-provider.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

const ada = { channels: { email: 'ada@example.com', push: ['one', 'two'] } }
const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const

let file: string
let remove: () => void
let email: RecordingProvider
let notifier: Notifier<SqliteTransaction>
let storage: Storage<SqliteTransaction>
let orders: DatabaseSync
let accepted: string[]

beforeEach(async () => {
  ;({ file, remove } = temporaryFile())
  orders = new DatabaseSync(file)
  orders.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, notification TEXT)')
  email = recordingProvider()
  accepted = []
  storage = sqlite({ file })
  notifier = createNotifier({
    storage,
    channels: { email, push: recordingProvider({ name: 'pusher' }) },
    plans: { ...perMinutePlans, org_default: { ...UNLIMITED, notificationsPerMonth: 5 } },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, ada])) },
    delivery: { pollMs: 60_000 },
  })
  notifier.on('notification.accepted', ({ data }) => void accepted.push(data.id))
  await notifier.start()
})

afterEach(async () => {
  await notifier.stop()
  orders.close()
  remove()
})

function insert(database: DatabaseSync, id: string, notification: string | undefined): void {
  database.prepare('INSERT INTO orders VALUES (?, ?)').run(id, notification ?? null)
}

const order =
  (id: string): SqliteTransaction =>
  (database, [notification]) =>
    insert(database, id, notification)

const stored = (): unknown[] =>
  orders
    .prepare('SELECT id, notification FROM orders')
    .all()
    .map((row) => ({ ...row }))

/** What still works, whatever was refused before. */
async function stillWorks(): Promise<void> {
  const before = email.calls.length
  await notifier.send(message, { tx: order('later') })
  await expect.poll(() => email.calls.length).toBe(before + 1)
}

describe('a function of the application in a commit of SQLite', () => {
  it('is one commit with a message for several channels, as a whole or not at all', async () => {
    const all = { recipient: 'user:42', channels: ['push', 'email'], text: 'x' } as const
    const record: SqliteTransaction = (database, ids) => insert(database, String(ids.length), ids[0])
    const { id, ids } = await notifier.send(all, { tx: record })
    expect(stored()).toEqual([{ id: '3', notification: id }])
    expect(ids).toHaveLength(3)
    // Two of the month are left.
    await expect(notifier.send(all, { tx: order('2') })).rejects.toMatchObject({
      code: 'notification_quota_exceeded',
    })
    const failing = { tx: () => void orders.exec('nothing') }
    await expect(notifier.send({ ...all, channels: ['push'] }, failing)).rejects.toThrow()
    expect(stored()).toHaveLength(1)
    expect((await notifier.notifications.list()).items).toHaveLength(3)
  })

  it('writes with what is sent, and knows its id', async () => {
    const { id } = await notifier.send(message, { tx: order('1') })
    expect(stored()).toEqual([{ id: '1', notification: id }])
    await expect.poll(() => email.calls.length).toBe(1)
    expect(accepted).toEqual([id])
  })

  it('is undone with what it throws, and nothing was sent', async () => {
    const failed = new Error('the order cannot be')
    const refused = notifier.send(message, {
      idempotencyKey: 'k',
      tx(database) {
        insert(database, '1', undefined)
        throw failed
      },
    })
    await expect(refused).rejects.toBe(failed)
    expect([stored(), accepted]).toEqual([[], []])
    expect((await notifier.notifications.list()).items).toEqual([])
    expect((await notifier.send(message, { idempotencyKey: 'k' })).replayed).toBe(false)
  })

  it('is run once also when its own data is at fault, whose error it gets', async () => {
    insert(orders, '1', undefined)
    let runs = 0
    const refused = notifier.send(message, {
      tx(database) {
        runs += 1
        insert(database, '1', undefined)
      },
    })
    await expect(refused).rejects.toThrow('UNIQUE constraint failed: orders.id')
    expect(runs).toBe(1)
    await stillWorks()
  })

  it('is told the present status when a key is repeated', async () => {
    const later = { ...message, sendAt: new Date(Date.now() + 3_600_000) }
    const { id } = await notifier.send(later, { tx: order('1'), idempotencyKey: 'k' })
    await notifier.notifications.cancel(id)
    const again = await notifier.send(later, { tx: order('2'), idempotencyKey: 'k' })
    expect(again).toMatchObject({ id, status: 'cancelled', replayed: true })
  })

  it('is not run again when a key is repeated, nor for what is refused', async () => {
    const first = await notifier.send(message, { tx: order('1'), idempotencyKey: 'k' })
    const again = await notifier.send(message, { tx: order('2'), idempotencyKey: 'k' })
    expect(again).toMatchObject({ id: first.id, replayed: true })
    const ids: (readonly string[])[] = []
    const { accepted: admitted } = await notifier.sendBatch(Array(6).fill(message), {
      tx: (_, given) => void ids.push(given),
    })
    expect([admitted, ids.map(({ length }) => length)]).toEqual([4, [4]])
    await expect(notifier.send(message, { tx: order('3') })).rejects.toMatchObject({
      code: 'notification_quota_exceeded',
    })
    expect(await notifier.sendBatch([message], { tx: order('4') })).toMatchObject({ accepted: 0 })
    expect(stored()).toEqual([{ id: '1', notification: first.id }])
  })

  it('moves and cancels with what it writes, or neither', async () => {
    const { notifications } = notifier
    const later = { ...message, sendAt: new Date(Date.now() + 3_600_000) }
    const far = new Date(Date.now() + 7_200_000)
    const { id } = await notifier.send(later)
    const told: string[] = []
    notifier.on('notification.cancelled', ({ data }) => void told.push(data.id))
    const failed = new Error('no booking')
    const tx: SqliteTransaction = (database) => {
      insert(database, 'undone', undefined)
      throw failed
    }
    await expect(notifications.cancel(id, { tx })).rejects.toBe(failed)
    await expect(notifications.reschedule(id, { sendAt: null }, { tx })).rejects.toBe(failed)
    expect(await notifications.get(id)).toMatchObject({ status: 'scheduled', timeline: [{}] })
    expect(stored()).toEqual([])
    const moved = await notifications.reschedule(id, { sendAt: far }, { tx: order('1') })
    expect([moved.sendAt, moved.waiting?.until]).toEqual([far.toISOString(), far.toISOString()])
    expect((await notifications.cancel(id, { tx: order('2') })).status).toBe('cancelled')
    expect(stored()).toEqual([
      { id: '1', notification: id },
      { id: '2', notification: id },
    ])
    expect(told).toEqual([id])
  })

  it('is not run for what cannot be moved or cancelled', async () => {
    const { notifications } = notifier
    const { id } = await notifier.send(message)
    await expect.poll(async () => (await notifications.get(id)).status).toBe('sent')
    const other = notifier.organization((await notifier.organizations.create({ name: 'Acme' })).id)
    const tx = order('1')
    for (const [call, code] of [
      [() => notifications.cancel(id, { tx }), 'not_cancellable'],
      [() => notifications.reschedule(id, { sendAt: null }, { tx }), 'not_reschedulable'],
      [() => notifications.cancel('notif_0', { tx }), 'notification_not_found'],
      [() => other.notifications.cancel(id, { tx }), 'organization_mismatch'],
      [() => notifications.cancel(id, { tx: (async () => {}) as never }), 'invalid_transaction'],
    ] as const)
      await expect(call()).rejects.toMatchObject({ code })
    expect(stored()).toEqual([])
    await stillWorks()
  })

  it.each([
    ['asynchronous', (async () => {}) as unknown as SqliteTransaction, 'asynchronous'],
    [
      'one that returns a promise',
      ((database: DatabaseSync) =>
        Promise.resolve(insert(database, '1', undefined))) as unknown as SqliteTransaction,
      'asynchronous',
    ],
    ['no function', {} as unknown as SqliteTransaction, 'not_a_transaction'],
    ['one that commits', (database: DatabaseSync) => database.exec('COMMIT'), 'ended'],
    ['one that rolls back', (database: DatabaseSync) => database.exec('ROLLBACK'), 'ended'],
    [
      'one that begins another',
      (database: DatabaseSync) => database.exec('ROLLBACK; BEGIN; SAVEPOINT other'),
      'ended',
    ],
  ])('%s is refused, and nothing is stored', async (_, tx: SqliteTransaction, reason) => {
    const refused = notifier.send(message, { tx })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_transaction', details: { reason } })
    expect((await notifier.notifications.list()).items).toEqual([])
    expect(stored()).toEqual([])
    await stillWorks()
  })

  it('may use savepoints, and no transaction of its own', async () => {
    await notifier.send(message, {
      tx(database) {
        database.exec('SAVEPOINT a')
        insert(database, '1', undefined)
        database.exec('ROLLBACK TO a')
        insert(database, '2', undefined)
      },
    })
    expect(stored()).toEqual([{ id: '2', notification: null }])
    await expect(notifier.send(message, { tx: (database) => database.exec('BEGIN') })).rejects.toThrow(
      'cannot start a transaction within a transaction',
    )
    await stillWorks()
  })

  it('is not undone by a commit that is asked for from within, and refused', async () => {
    let refused = Promise.resolve()
    await notifier.send(message, {
      tx(database) {
        insert(database, '1', undefined)
        const renewed = storage.renew([{ jobId: '1', token: 1 }], 1_000)
        refused = expect(renewed).rejects.toMatchObject({ code: 'service_unavailable' })
      },
    })
    await refused
    expect(stored()).toEqual([{ id: '1', notification: null }])
    await expect.poll(() => email.calls.length).toBe(1)
    await stillWorks()
  })
})
