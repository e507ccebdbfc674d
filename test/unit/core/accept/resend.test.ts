import { describe, expect, it, onTestFinished } from 'vitest'
import type { ChannelOptions } from '../../../../src/core/channels/channel-option.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const HOUR = 3_600_000

describe('a resend', () => {
  async function start(options: Partial<NotifierOptions> = {}, deliver = false) {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const channel = recordingProvider()
    const notifier = createNotifier({ channels: { email: channel }, storage, clock, ...options })
    await notifier.start({ deliver })
    onTestFinished(() => notifier.stop())
    return { clock, notifier, storage, channel }
  }

  it('is a new notification with the pinned content of the first, and says so', async () => {
    const { notifier, clock, channel } = await start({}, true)
    await notifier.templates.create({ name: 'hi', channel: 'email', subject: 'Hi', body: 'Hello {{name}}' })
    const first = await notifier.send({
      to: 'ada@example.com',
      template: 'hi',
      variables: { name: 'Ada' },
      priority: 'high',
    })
    await clock.until(() => channel.calls.length === 1)
    await notifier.templates.update('hi', { body: 'Bye {{name}} {{other}}' })
    await notifier.templates.delete('hi')
    await clock.advance(1_000)
    const second = await notifier.notifications.resend(first.id)
    expect(second).toEqual({
      ...first,
      id: second.id,
      createdAt: new Date(clock.now()).toISOString(),
    })
    expect(second.id).not.toBe(first.id)
    await clock.until(() => channel.calls.length === 2)
    expect(channel.calls[1]?.message).toEqual(channel.calls[0]?.message)
    expect(channel.calls[1]?.context.idempotencyKey).toBe(second.id)
    await clock.advance(1)
    expect(await notifier.notifications.get(second.id)).toMatchObject({
      status: 'sent',
      resendOf: first.id,
      template: 'hi',
      priority: 'high',
    })
    const { items } = await notifier.notifications.list()
    expect(items.map(({ resendOf }) => resendOf)).toEqual([first.id, null])
  })

  it('goes at once, and lives as long as the first was to', async () => {
    const { notifier, clock } = await start()
    const sendAt = new Date(clock.now() + 5 * HOUR)
    const first = await notifier.send({ ...mail, sendAt, expiresAt: new Date(clock.now() + 7 * HOUR) })
    await clock.advance(24 * HOUR)
    const { id, status } = await notifier.notifications.resend(first.id)
    expect(status).toBe('queued')
    expect(await notifier.notifications.get(id)).toMatchObject({
      sendAt: null,
      expiresAt: new Date(clock.now() + 2 * HOUR).toISOString(),
    })
  })

  it('of what was to live to the end of time lives as long', async () => {
    const { notifier, clock } = await start()
    const expiresAt = new Date(8.64e15)
    const { id } = await notifier.send({ ...mail, expiresAt })
    await clock.advance(1)
    const again = await notifier.notifications.resend(id)
    const { items } = await notifier.notifications.list()
    expect(items).toMatchObject([
      { id: again.id, expiresAt: expiresAt.toISOString() },
      { id, expiresAt: expiresAt.toISOString() },
    ])
  })

  it('happens once for one idempotency key, which no send shares', async () => {
    const { notifier } = await start()
    const first = await notifier.send(mail, { idempotencyKey: 'k' })
    const other = await notifier.send(mail)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => notifier.notifications.resend(first.id, { idempotencyKey: 'k' })),
    )
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers[0]?.id).not.toBe(first.id)
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect((await notifier.notifications.list()).items).toHaveLength(3)
    await expect(notifier.notifications.resend(other.id, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  it('counts against the hour and the month', async () => {
    const hour = { ...UNLIMITED, notificationsPerHour: 2 }
    const month = { ...UNLIMITED, notificationsPerMonth: 2 }
    const { notifier } = await start({ plans: { hour, month } })
    for (const [plan, code] of [
      ['hour', 'rate_limit_exceeded'],
      ['month', 'notification_quota_exceeded'],
    ] as const) {
      const organizationId = `org_${plan}`
      await notifier.organizations.create({ id: organizationId, name: 'A', plan })
      const { id } = await notifier.organization(organizationId).send(mail)
      await notifier.organization(organizationId).notifications.resend(id)
      await expect(notifier.organization(organizationId).notifications.resend(id)).rejects.toMatchObject({
        code,
      })
    }
  })

  it('is refused for what is unknown, or of another organization', async () => {
    const { notifier } = await start()
    await notifier.organizations.create({ id: 'org_b', name: 'B' })
    const { id } = await notifier.send(mail)
    const { resend } = notifier.notifications
    await expect(resend('notif_1')).rejects.toMatchObject({ code: 'notification_not_found', status: 404 })
    await expect(notifier.organization('org_b').notifications.resend(id)).rejects.toMatchObject({
      code: 'organization_mismatch',
    })
    await expect(notifier.organization('org_c').notifications.resend(id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(resend(id, { idempotencyKey: '' })).rejects.toMatchObject({ code: 'invalid_parameter' })
  })

  it('is refused when the channel, or a provider for the recipient, is no longer configured', async () => {
    const { notifier, storage } = await start()
    const { id } = await notifier.send(mail)
    const sms = recordingProvider()
    const picky = recordingProvider({ accepts: () => false })
    const changed: readonly [ChannelOptions, string][] = [
      [{ sms }, 'invalid_channel'],
      [{ email: picky }, 'invalid_recipient'],
    ]
    for (const [channels, code] of changed) {
      const later = createNotifier({ channels, storage })
      await later.start({ deliver: false })
      await expect(later.notifications.resend(id)).rejects.toMatchObject({ code, status: 422 })
    }
  })
})
