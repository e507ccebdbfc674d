import { expect, it, onTestFinished } from 'vitest'
import { sqliteStorage } from '../../../adapters/storage/sqlite/index.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import { recordingChannel } from '../../../src/testing/recording-channel.ts'
import { notifierWorld } from '../../support/notifier-world.ts'
import { temporaryFile } from '../../support/sqlite-harness.ts'
import { type VirtualTime, virtualTime } from '../../support/virtual-time.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

const storages: [string, (clock: VirtualTime) => Storage][] = [
  ['memory', (clock) => memoryStorage({ clock })],
  [
    'sqlite',
    (clock) => {
      const { file, remove } = temporaryFile()
      onTestFinished(remove)
      return sqliteStorage({ file, clock, synchronous: 'normal' })
    },
  ],
]

it.each(storages)(
  '%s: after 10,000 of one organization, one of another goes in the next round',
  async (_name, make) => {
    const clock = virtualTime()
    const world = notifierWorld({ clock, storage: make(clock) })
    const order: string[] = []
    const channel = recordingChannel({
      maxConcurrent: 10,
      send: (_message, { organizationId }) => {
        order.push(organizationId)
        return new Promise((resolve) => clock.timer(1_000, () => resolve({ kind: 'accepted' })))
      },
    })
    const notifier = await world.start({ channels: { email: channel }, plans: {} })
    await notifier.organizations.create({ id: 'org_big', name: 'Big' })
    await notifier.organizations.create({ id: 'org_small', name: 'Small' })
    const { accepted } = await notifier.sendBatch(
      Array.from({ length: 10_000 }, () => mail),
      { organizationId: 'org_big' },
    )
    expect(accepted).toBe(10_000)
    await clock.until(() => order.length >= 25)
    const before = order.length
    await notifier.send(mail, { organizationId: 'org_small' })
    await clock.until(() => order.includes('org_small'))
    // Slots become free together: the first round that begins after the send has it.
    expect(order.indexOf('org_small') - before).toBeLessThan(10)
  },
  60_000,
)

it('a provider that hangs holds up only its own concurrency', async () => {
  const world = notifierWorld()
  const { clock } = world
  const hanging = recordingChannel({ name: 'hanging', maxConcurrent: 4, send: () => new Promise(() => {}) })
  const healthy = recordingChannel({ name: 'healthy', maxConcurrent: 20 })
  const sms = recordingChannel({ name: 'sms', channel: 'sms' })
  const notifier = await world.start({ channels: { email: [hanging, healthy], sms } })
  await notifier.sendBatch(Array.from({ length: 100 }, () => mail))
  const { id } = await notifier.send({ channel: 'sms', to: '+14155550123', body: 'x' })
  await clock.advance(0)
  expect(clock.monotonic()).toBe(0)
  expect([hanging.calls.length, healthy.calls.length]).toEqual([4, 96])
  expect((await notifier.notifications.get(id)).status).toBe('sent')
  expect((await notifier.health()).providers).toMatchObject([
    { name: 'hanging', running: 4 },
    { name: 'healthy', running: 0 },
    { name: 'sms', running: 0 },
  ])
})
