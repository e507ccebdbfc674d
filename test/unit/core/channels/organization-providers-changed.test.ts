import { describe, expect, it } from 'vitest'
import type { Queue, QueueWorker } from '../../../../src/core/ports/queue.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { servedNotifier } from '../../../../src/served-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mapStorage } from '../../../map-storage/index.ts'
import { createState } from '../../../map-storage/state.ts'
import { mail, type NotifierWorld, notifierWorld } from '../../../support/notifier-world.ts'
import { MINUTE, ORGANIZATIONS, organizationWorld } from '../../../support/organization-world.ts'

/** A queue engine that hands over due refs at once. */
function instantQueue(): Queue {
  let handle: QueueWorker['handle'] = async () => {}
  return {
    name: 'instant',
    async open() {},
    async enqueue(refs) {
      void handle(refs.filter(({ dueInMs }) => dueInMs === 0))
    },
    async work(worker) {
      handle = worker.handle
      return async () => {}
    },
    async close() {},
  }
}

describe('notifications that another configuration stored', () => {
  /** Stores one notification of each of two organizations without delivering. */
  async function stored(
    world: NotifierWorld,
    channels: NotifierOptions['channels'],
  ): Promise<[string, string][]> {
    const before = await world.start({ channels, plans: {}, delivery: { pollMs: 60 * MINUTE } })
    for (const id of ORGANIZATIONS) await before.organizations.create({ id, name: id })
    const ids: [string, string][] = []
    const sendAt = new Date(world.clock.now() + MINUTE)
    for (const organizationId of ['org_a', 'org_b'])
      ids.push([organizationId, (await before.organization(organizationId).send({ ...mail, sendAt })).id])
    await before.maintenance(true)
    return ids
  }

  it("go to the organization's own providers after the channel has become a function", async () => {
    const world = notifierWorld()
    const before = await world.start({ channels: { email: recordingProvider() }, plans: {} })
    for (const id of ORGANIZATIONS) await before.organizations.create({ id, name: id })
    const sendAt = new Date(world.clock.now() + MINUTE)
    const ids = []
    for (const organizationId of ['org_a', 'org_b'])
      ids.push((await before.organization(organizationId).send({ ...mail, sendAt })).id)
    await before.stop()
    const { notifier, made } = await organizationWorld(undefined, { world })
    expect(await world.ended(notifier, ids[0] as string, 'org_a')).toBe('sent')
    expect(await world.ended(notifier, ids[1] as string, 'org_b')).toBe('sent')
    expect(['org_a', 'org_b'].map((id) => made.get(id)?.calls.length)).toEqual([1, 1])
  })

  it('go to the shared providers after the function is gone', async () => {
    const world = notifierWorld()
    const before = await organizationWorld(undefined, { world })
    const sendAt = new Date(world.clock.now() + MINUTE)
    const id = await before.send('org_a', { sendAt })
    await before.notifier.stop()
    const shared = recordingProvider({ name: 'shared' })
    const notifier = await world.start({ channels: { email: shared }, plans: {} })
    expect(await world.ended(notifier, id, 'org_a')).toBe('sent')
    expect(shared.calls).toHaveLength(1)
  })

  it('share the slots of the shared providers across lanes, and leave one empty', async () => {
    const world = notifierWorld()
    const before = await organizationWorld(undefined, { world })
    const sendAt = new Date(world.clock.now() + MINUTE)
    for (const organizationId of ORGANIZATIONS) {
      await before.notifier
        .organization(organizationId)
        .sendBatch(Array.from({ length: 10 }, () => ({ ...mail, sendAt })))
    }
    await before.notifier.stop()
    const shared = recordingProvider({ maxConcurrent: 5, send: () => new Promise(() => {}) })
    await world.start({ channels: { email: shared }, plans: {} })
    await world.clock.advance(MINUTE)
    expect(shared.calls).toHaveLength(4)
    const lanes = ORGANIZATIONS.map((id) => ({ lane: `email@${id}`, free: 100 }))
    expect((await world.storage.claim({ lanes, leaseMs: 1 })).jobs).toHaveLength(26)
  })

  it('share the pace of the shared providers across lanes', async () => {
    const world = notifierWorld()
    const before = await organizationWorld(undefined, { world })
    const sendAt = new Date(world.clock.now() + MINUTE)
    for (let number = 0; number < 30; number += 1) {
      const organizationId = `org_${number}`
      await before.notifier.organizations.create({ id: organizationId, name: organizationId })
      const five = Array.from({ length: 5 }, () => ({ ...mail, sendAt }))
      await before.notifier.organization(organizationId).sendBatch(five)
    }
    await before.notifier.stop()
    const accepted = { kind: 'accepted' } as const
    const shared = recordingProvider({
      maxPerSecond: 100,
      maxConcurrent: 5,
      send: () => new Promise((resolve) => world.clock.timer(20, () => resolve(accepted))),
    })
    await world.start({ channels: { email: shared }, plans: {} })
    await world.clock.advance(MINUTE + 900)
    expect(shared.calls.length).toBeGreaterThan(90)
    expect(shared.calls.length).toBeLessThanOrEqual(100)
  })

  it('wait visibly while the organization has no providers', async () => {
    let none = false
    const { notifier, send, ended, clock, made, history } = await organizationWorld((_id, channel) =>
      none ? null : channel(),
    )
    const id = await send('org_a', { sendAt: new Date(clock.now() + 60 * MINUTE) })
    none = true
    await clock.advance(61 * MINUTE)
    expect(made.get('org_a')?.calls).toEqual([])
    expect((await notifier.health()).waiting).toEqual([
      { lane: 'email@org_a', reason: 'channel_not_configured' },
    ])
    expect(await history(notifier, id, 'org_a')).toContain('attempt_failed: channel_not_configured')
    none = false
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
  })

  it.each<[string, Queue | undefined]>([
    ['', undefined],
    [', also with a queue engine', instantQueue()],
  ])('appear in the health of a process without a provider of their channel%s', async (_how, queue) => {
    const clock = fakeClock()
    const world = notifierWorld(queue === undefined ? {} : { clock, storage: mapStorage(createState(clock)) })
    const ids = await stored(world, { email: recordingProvider({ name: 'mail' }) })
    expect(ids).toHaveLength(2)
    const other = notifierWorld({ clock: world.clock, storage: world.storage })
    const notifier = await other.start({
      channels: { sms: recordingProvider() },
      delivery: { pollMs: 1_000 },
      ...(queue === undefined ? {} : { queue }),
    })
    await world.storage.accept([
      {
        organizationId: 'org_a',
        notifications: [
          {
            id: 'notif_1',
            channel: 'push',
            to: 'token',
            content: { body: 'x' },
            lane: 'push',
            priority: 'normal',
            sendAt: null,
            expiresAt: null,
          },
        ],
      },
    ])
    await world.clock.advance(2_000)
    await notifier.send({ channel: 'sms', to: '+14155550123', body: 'x' })
    await world.clock.advance(10)
    expect((await notifier.health()).waiting).toEqual([{ lane: 'push', reason: 'channel_not_configured' }])
  })
})

it('a report for an unknown organization does not call the function', async () => {
  const { notifier, asked } = await organizationWorld()
  const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body: new Uint8Array() }
  for (const organizationId of ['org_nobody', 'org_', 'x'.repeat(500)]) {
    const source = { organizationId, channel: 'email', provider: 'recorder' } as const
    await expect(servedNotifier(notifier).receipts.take(source, arrival)).rejects.toMatchObject({
      code: 'not_found',
    })
  }
  expect(asked).toEqual([])
})
