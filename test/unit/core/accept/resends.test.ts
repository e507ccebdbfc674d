import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

describe('a resend', () => {
  it('does not count against the monthly quota if its recipient has no address, as the send did not', async () => {
    const world = notifierWorld()
    const notifier = await world.start({
      channels: { email: recordingProvider() },
      plans: { free: { ...UNLIMITED, notificationsPerMonth: 10 } },
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: {} }])) },
    })
    await notifier.organizations.create({ id: 'org_a', name: 'A', plan: 'free' })
    const tenant = notifier.organization('org_a')
    const used = async () => (await tenant.limits.get()).limits.notificationsPerMonth?.used
    const { id } = await tenant.send({ channel: 'email', recipient: 'ada', body: 'Hello' })
    expect(await world.ended(notifier, id, 'org_a')).toBe('skipped')
    expect(await used()).toBe(0)
    const again = await tenant.notifications.resend(id)
    expect(await world.ended(notifier, again.id, 'org_a')).toBe('skipped')
    expect(await used()).toBe(0)
  })

  it('takes as long as the message might after its time, however late that was set', async () => {
    const world = notifierWorld()
    const notifier = await world.start({ channels: { email: recordingProvider() } })
    const at = (ms: number) => new Date(world.clock.now() + ms)
    const { id } = await notifier.send({ ...mail, sendAt: at(60_000), expiresAt: at(90_000) })
    await world.clock.advance(60_000)
    expect(await world.ended(notifier, id)).toBe('sent')
    const expected = at(30_000).toISOString()
    const again = await notifier.notifications.resend(id)
    expect(await notifier.notifications.get(again.id)).toMatchObject({ sendAt: null, expiresAt: expected })
  })
})
