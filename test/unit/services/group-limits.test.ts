import { describe, expect, it } from 'vitest'
import { type Plan, UNLIMITED } from '../../../src/domain/plans.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../support/notifier-world.ts'

const DEVICES = 10
const push = { channel: 'push', subject: 'Hi', body: 'Hello' } as const
const to = (recipient: string) => ({ ...push, recipient })
const toAll = ['a', 'b', 'c'].map(to)

/** An organization whose people have ten devices each. */
async function start(plan: Partial<Plan>) {
  const world = notifierWorld()
  const notifier = await world.start({
    channels: { push: recordingProvider() },
    plans: { free: { ...UNLIMITED, ...plan } },
    recipients: {
      resolve: (ids) =>
        new Map(
          ids.map((id) => {
            const devices = Array.from({ length: DEVICES }, (_, index) => `${id}-${index}`)
            return [id, { channels: { push: devices } }]
          }),
        ),
    },
  })
  await notifier.organizations.create({ id: 'org_a', name: 'A', plan: 'free' })
  const tenant = notifier.organization('org_a')
  return {
    tenant,
    stored: async () => (await tenant.notifications.list()).items.length,
    usedOf: async (period: 'notificationsPerHour' | 'notificationsPerMonth') =>
      (await tenant.limits.get()).limits[period]?.used,
  }
}

describe.each([
  ['notificationsPerHour', 'rate_limit_exceeded'],
  ['notificationsPerMonth', 'notification_quota_exceeded'],
] as const)('%s', (period, code) => {
  it('admits a group of a batch as a whole, or nothing of it', async () => {
    const { tenant, stored, usedOf } = await start({ [period]: 15 })
    const { accepted, items } = await tenant.sendBatch(toAll, { idempotencyKey: 'k' })
    expect(accepted).toBe(1)
    expect(items).toMatchObject([
      { ids: Array.from({ length: DEVICES }, () => expect.any(String)) },
      { error: { code } },
      { error: { code } },
    ])
    expect([await stored(), await usedOf(period)]).toEqual([DEVICES, DEVICES])
    const again = await tenant.sendBatch(toAll, { idempotencyKey: 'k' })
    expect(again).toMatchObject({ replayed: true, items })
    expect(await usedOf(period)).toBe(DEVICES)
  })

  it('admits the group of a send as a whole, or nothing of it', async () => {
    const { tenant, stored, usedOf } = await start({ [period]: 15 })
    const [first, second] = [to('a'), to('b')]
    expect((await tenant.send(first, { idempotencyKey: 'k' })).ids).toHaveLength(DEVICES)
    await expect(tenant.send(second)).rejects.toMatchObject({ code })
    await expect(tenant.validate(second)).rejects.toMatchObject({ code })
    expect([await stored(), await usedOf(period)]).toEqual([DEVICES, DEVICES])
    expect((await tenant.send(first, { idempotencyKey: 'k' })).ids).toHaveLength(DEVICES)
  })

  it('keeps no record of a batch whose first group is too large for it', async () => {
    const { tenant, usedOf } = await start({ [period]: 5 })
    const refused = await tenant.sendBatch(toAll, { idempotencyKey: 'k' })
    expect([refused.accepted, await usedOf(period)]).toEqual([0, 0])
    const again = await tenant.sendBatch(toAll, { idempotencyKey: 'k' })
    expect(again.replayed).toBe(false)
  })
})
