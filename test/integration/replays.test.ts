import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import type { StorageHarness } from '../../src/testing/storage/harness.ts'
import { eventually } from '../support/eventually.ts'
import { describeEachWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'
import { replayOf } from '../support/replay-of.ts'
import { sqliteHarness } from '../support/sqlite-harness.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const HOUR = 3_600_000
const idempotencyKey = 'order-17'

type Create = (clock: FakeClock) => Promise<StorageHarness>

const STORAGES: readonly (readonly [name: string, create: Create])[] = [
  ['SQLite', sqliteHarness],
  ['PostgreSQL', (clock) => postgresHarness({ clock })],
]
const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

describeEachWith(STORAGES, missing, 'a replay on %s reports the present', (_name, create) => {
  let clock: FakeClock
  let harness: StorageHarness
  let notifier: Notifier
  /** Sizes of the look-ups of present states. */
  let looked: number[]
  let read: string[]
  let address: string

  /** Counts what is read of notifications. */
  function counting(storage: Storage): Storage {
    const { get, states } = storage.notifications
    return {
      ...storage,
      notifications: {
        ...storage.notifications,
        get(id) {
          read.push(id)
          return get(id)
        },
        states(ids) {
          looked.push(ids.length)
          return states(ids)
        },
      },
    }
  }

  beforeEach(async () => {
    clock = fakeClock()
    harness = await create(clock)
    looked = []
    read = []
    address = 'ada@example.com'
    notifier = createNotifier({
      channels: { email: recordingProvider() },
      storage: counting(harness.storage),
      clock,
      recipients: {
        resolve: async () => ({
          ada: { channels: { email: [address, 'ada@work.example'] } },
          eve: { channels: { email: [address] } },
        }),
      },
    })
    await notifier.start()
  })
  afterEach(async () => {
    await notifier.stop()
    await harness.close?.()
  })

  const inAnHour = (): Date => new Date(clock.now() + HOUR)
  const later = () => ({ ...mail, sendAt: inAnHour() })

  it('status of one that was cancelled, sent or still waits', async () => {
    const message = later()
    const first = await notifier.send(message, { idempotencyKey })
    expect(first).toMatchObject({ status: 'scheduled', replayed: false })
    expect(looked).toEqual([])
    expect(await notifier.send(message, { idempotencyKey })).toEqual({ ...first, replayed: true })
    await notifier.notifications.cancel(first.id)
    expect(await notifier.send(message, { idempotencyKey })).toEqual({
      ...first,
      status: 'cancelled',
      replayed: true,
    })
    const { id } = await notifier.send(mail, { idempotencyKey: 'at-once' })
    await notifier.waitFor(id)
    expect(await notifier.send(mail, { idempotencyKey: 'at-once' })).toMatchObject({ id, status: 'sent' })
    const resent = await notifier.notifications.resend(id, { idempotencyKey })
    await notifier.waitFor(resent.id)
    expect(await notifier.notifications.resend(id, { idempotencyKey })).toMatchObject({
      id: resent.id,
      status: 'sent',
      replayed: true,
    })
  })

  it('status to parallel equal calls that another one made', async () => {
    const message = later()
    const { id } = await notifier.send(message, { idempotencyKey })
    await notifier.notifications.cancel(id)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => notifier.send(message, { idempotencyKey })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill('cancelled'))
  })

  it('address of a person who has another one by now', async () => {
    const message = { channel: 'email', recipient: 'eve', body: 'Hello', sendAt: inAnHour() } as const
    const { id, to } = await notifier.send(message, { idempotencyKey })
    expect(to).toBe('ada@example.com')
    address = 'eve@example.com'
    await eventually(async () => {
      await clock.advance(HOUR)
      return (await notifier.notifications.get(id)).status === 'sent'
    })
    expect(await notifier.send(message, { idempotencyKey })).toMatchObject({
      id,
      to: 'eve@example.com',
      status: 'sent',
    })
  })

  it('status of each item of a batch, and of a group', async () => {
    const group = { channel: 'email', recipient: 'ada', body: 'Hello', sendAt: inAnHour() } as const
    const batch = [later(), { ...mail, to: 'nobody' }, group, mail, later()]
    const first = await notifier.sendBatch(batch as never, { idempotencyKey })
    const ids = first.items.map((item) => ('id' in item ? item.id : ''))
    await notifier.notifications.cancel(ids[0] ?? '')
    await notifier.notifications.cancel(ids[2] ?? '')
    await notifier.waitFor(ids[3] ?? '')
    const again = await notifier.sendBatch(batch as never, { idempotencyKey })
    const states = ['cancelled', undefined, 'cancelled', 'sent', 'scheduled']
    const replayed = replayOf(first)
    expect(again).toEqual({
      ...replayed,
      items: replayed.items.map((item, at) =>
        states[at] === undefined ? item : { ...item, status: states[at] },
      ),
    })
    expect(again.items[2]).toMatchObject({ groupId: expect.any(String), ids: [ids[2], expect.any(String)] })
  })

  it('status of ten thousand by sets', async () => {
    const batch = Array.from({ length: 10_000 }, later)
    const { items } = await notifier.sendBatch(batch, { idempotencyKey })
    const [first, , third] = items.map((item) => ('id' in item ? item.id : ''))
    await notifier.notifications.cancel(third ?? '')
    read = []
    const again = await notifier.sendBatch(batch, { idempotencyKey })
    expect(again.items.slice(0, 4)).toMatchObject([
      { id: first, status: 'scheduled' },
      { status: 'scheduled' },
      { id: third, status: 'cancelled' },
      { status: 'scheduled' },
    ])
    expect([looked, read]).toEqual([Array(10).fill(1_000), []])
  })

  it('status that the first answer had, and no address, if the notification is gone', async () => {
    const message = later()
    const first = await notifier.send(message, { idempotencyKey })
    await notifier.notifications.cancel(first.id)
    await clock.advance(1_000)
    await harness.storage.expire({ what: { organizationId: 'org_default', olderThanMs: 0 }, most: 100 })
    await expect(notifier.notifications.get(first.id)).rejects.toMatchObject({
      code: 'notification_not_found',
    })
    expect(await notifier.send(message, { idempotencyKey })).toEqual({ ...first, to: '', replayed: true })
  })
})
