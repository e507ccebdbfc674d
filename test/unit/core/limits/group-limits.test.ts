import { describe, expect, it } from 'vitest'
import { type Plan, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const DEVICES = 10
const push = { channel: 'push', subject: 'Hi', body: 'Hello' } as const
const to = (recipient: string) => ({ ...push, recipient })
const toAll = ['a', 'b', 'c'].map(to)

/** An organization whose people have ten devices and three mailboxes each. */
async function start(plan: Partial<Plan>) {
  const world = notifierWorld()
  const notifier = await world.start({
    channels: { push: recordingProvider(), email: recordingProvider() },
    plans: { free: { ...UNLIMITED, ...plan } },
    recipients: {
      resolve: (ids) =>
        new Map(
          ids.map((id) => {
            const devices = Array.from({ length: DEVICES }, (_, index) => `${id}-${index}`)
            const email = ['1', '2', '3'].map((number) => `${id}${number}@example.com`)
            return [id, { channels: { push: devices, email } }]
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

it('says what does not fit within the hour, and what is left', async () => {
  const { tenant } = await start({ notificationsPerHour: 15 })
  const mail = {
    channel: 'email',
    to: 'ada@example.com',
    body: 'Hi',
    email: { cc: 'b@example.com' },
  } as const
  const { items } = await tenant.sendBatch([to('a'), mail, to('b'), mail])
  const short = { code: 'rate_limit_exceeded', details: { needed: 10, remaining: 3, limit: 15 } }
  const error = {
    ...short,
    message:
      '3 of 15 notifications are left within the hour, and the first that does not fit counts as 10, one for each address and copy. Wait, or send it to fewer.',
  }
  expect(items.slice(2)).toMatchObject([{ error }, { error }])
  await expect(tenant.send(to('c'))).rejects.toMatchObject(short)
  await expect(tenant.validate(to('c'))).rejects.toMatchObject(short)
  const cc = Array.from({ length: 19 }, (_, at) => `${at}@example.com`)
  await expect(tenant.send({ ...mail, email: { cc } })).rejects.toMatchObject({
    message: expect.stringMatching(/counts as 20, .*\. Send it to fewer\.$/),
  })
  await tenant.send({
    channel: 'email',
    to: 'ada@example.com',
    body: 'Hi',
    email: { cc: ['b@example.com', 'c@example.com'] },
  })
  await expect(tenant.send(mail)).rejects.toMatchObject({ details: { needed: 2, remaining: 0 } })
})

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

  it('counts each addressee of a mail, and each address once', async () => {
    const { tenant, stored, usedOf } = await start({ [period]: 10 })
    const mail = {
      channel: 'email',
      to: 'ada@example.com',
      body: 'Hi',
      email: {
        cc: ['b@example.com', 'Ada <ADA@example.com>'],
        bcc: ['c@example.com', 'd@example.com', 'b@EXAMPLE.com'],
      },
    } as const
    const plain = { channel: 'email', to: 'ada@example.com', body: 'Hi' } as const
    const { id } = await tenant.send(mail)
    expect(await usedOf(period)).toBe(4)
    const { accepted, items } = await tenant.sendBatch([mail, plain, mail, plain])
    expect(accepted).toBe(2)
    expect(items.slice(2)).toMatchObject([{ error: { code } }, { error: { code } }])
    expect([await stored(), await usedOf(period)]).toEqual([3, 9])
    for (const call of [
      () => tenant.send(mail),
      () => tenant.validate(mail),
      () => tenant.notifications.resend(id),
    ]) {
      await expect(call()).rejects.toMatchObject({ code })
    }
    expect([await stored(), await usedOf(period)]).toEqual([3, 9])
    await tenant.send(plain)
    expect(await usedOf(period)).toBe(10)
  })

  it('counts the copies of each mail of a group, and of a resend', async () => {
    const { tenant, usedOf } = await start({ [period]: 100 })
    const copied = { channel: 'email', recipient: 'a', body: 'Hi', email: { cc: 'b@example.com' } } as const
    const { ids } = await tenant.send(copied)
    expect([ids?.length, await usedOf(period)]).toEqual([3, 6])
    await tenant.notifications.resend(ids?.[1] ?? '')
    expect(await usedOf(period)).toBe(8)
  })
})
