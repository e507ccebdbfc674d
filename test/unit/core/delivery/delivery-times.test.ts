import { describe, expect, it } from 'vitest'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld, retry } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000
const unclear = async () => ({ kind: 'ambiguous', reason: 'No answer.' }) as const

describe('the times of a notification', () => {
  it('hold a scheduled notification until it is due', async () => {
    const channel = recordingProvider()
    const { notifier, clock, status } = await deliveryWorld([channel])
    const { id, status: first } = await notifier.send({ ...mail, sendAt: new Date(clock.now() + 10 * HOUR) })
    expect(first).toBe('scheduled')
    await clock.advance(10 * HOUR - 1)
    expect([await status(id), channel.calls.length]).toEqual(['scheduled', 0])
    await clock.advance(1)
    expect([await status(id), channel.calls.length]).toEqual(['sent', 1])
  })

  it('may be in the past, which means now, but not too far ahead', async () => {
    const { notifier, clock, ended } = await deliveryWorld([recordingProvider()])
    const { id, status } = await notifier.send({ ...mail, sendAt: new Date(clock.now() - 1) })
    expect([status, await ended(id)]).toEqual(['queued', 'sent'])
    const far = new Date(clock.now() + 367 * 24 * HOUR)
    await expect(notifier.send({ ...mail, sendAt: far })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'sendAt' },
    })
  })

  it('end the attempts at its expiry', async () => {
    const channel = recordingProvider({ send: retry('recipient', { retryAfterMs: HOUR }) })
    const { notifier, clock, ended, history } = await deliveryWorld([channel])
    const { id } = await notifier.send({ ...mail, expiresAt: new Date(clock.now() + 2.5 * HOUR) })
    expect(await ended(id)).toBe('failed')
    expect(await history(id)).toEqual([
      'queued',
      'attempt_failed: provider_unavailable',
      'attempt_failed: provider_unavailable',
      'attempt_failed: provider_unavailable',
      'failed: expired',
    ])
    expect(clock.monotonic()).toBeLessThanOrEqual(2.5 * HOUR)
  })

  it('end what expires during a pause without asking the provider', async () => {
    const channel = recordingProvider({
      maxConcurrent: 1,
      send: retry('account', { retryAfterMs: 5 * HOUR }),
    })
    const { notifier, clock, ended, history } = await deliveryWorld([channel])
    await notifier.send(mail)
    const { id } = await notifier.send({ ...mail, expiresAt: new Date(clock.now() + HOUR) })
    expect(await ended(id)).toBe('failed')
    expect(await history(id)).toEqual(['queued', 'failed: expired'])
  })

  it('end what expires while its attempt is being recorded', async () => {
    const channel = recordingProvider()
    let pass: (ms: number) => Promise<void> = async () => {}
    const { notifier, clock, ended, history } = await deliveryWorld([channel], {
      wrap: (inner) => ({
        async startAttempts(refs) {
          await pass(800)
          return inner.startAttempts(refs)
        },
      }),
    })
    pass = (ms) => new Promise((resolve) => void clock.timer(ms, resolve))
    const late = await notifier.send({ ...mail, expiresAt: new Date(clock.now() + 500) })
    const { id } = await notifier.send({ ...mail, expiresAt: new Date(clock.now() + 900) })
    expect([await ended(late.id), await ended(id)]).toEqual(['failed', 'sent'])
    expect(await history(late.id)).toEqual(['queued', 'failed: expired'])
    expect(channel.calls.map(({ context }) => context.notificationId)).toEqual([id])
  })

  it.each([0, -1])('cannot include an expiry %i ms after now or after the time of sending', async (ms) => {
    const { notifier, clock } = await deliveryWorld([recordingProvider()])
    const sendAt = new Date(clock.now() + HOUR)
    const refusal = { code: 'invalid_parameter', details: { field: 'expiresAt' } }
    const now = new Date(clock.now() + ms)
    await expect(notifier.send({ ...mail, expiresAt: now })).rejects.toMatchObject(refusal)
    const later = new Date(sendAt.getTime() + ms)
    await expect(notifier.send({ ...mail, sendAt, expiresAt: later })).rejects.toMatchObject(refusal)
  })
})

describe('a cancellation', () => {
  it('wins while no attempt has begun', async () => {
    const channel = recordingProvider()
    const { notifier, clock, events, history } = await deliveryWorld([channel])
    const { id } = await notifier.send({ ...mail, sendAt: new Date(clock.now() + HOUR) })
    expect(await notifier.notifications.cancel(id)).toMatchObject({ status: 'cancelled' })
    await clock.advance(2 * HOUR)
    expect(channel.calls).toEqual([])
    expect(await history(id)).toEqual(['scheduled', 'cancelled'])
    expect(events.map(({ event }) => event)).toEqual(['notification.cancelled'])
    await expect(notifier.notifications.cancel(id)).rejects.toMatchObject({ code: 'not_cancellable' })
  })

  it('is too late during an attempt and after the end', async () => {
    const channel = recordingProvider()
    const { notifier, clock } = await deliveryWorld([channel])
    let end = (): void => {}
    const answered = new Promise<void>((resolve) => {
      end = resolve
    })
    channel.behave(() => answered.then(() => ({ kind: 'accepted' })))
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    expect((await notifier.notifications.get(id)).actions.cancel).toBe(false)
    await expect(notifier.notifications.cancel(id)).rejects.toThrow('too late')
    end()
    await clock.advance(1)
    await expect(notifier.notifications.cancel(id)).rejects.toThrow('it has ended')
  })

  it.each([
    ['a failed one, and nothing was sent', retry('recipient', { retryAfterMs: HOUR }), null],
    ['one with an unknown result, and tells so', unclear, 'delivery_unknown'],
  ] as const)('wins between attempts: after %s', async (_name, send, code) => {
    const channel = recordingProvider({ send, retry: { kind: 'schedule', delaysMs: [HOUR], jitter: 0 } })
    const { notifier, clock, events } = await deliveryWorld([channel])
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    expect((await notifier.notifications.get(id)).actions).toMatchObject({ cancel: true, reschedule: false })
    const { status, error, timeline, actions } = await notifier.notifications.cancel(id)
    expect([status, error?.code ?? null, actions.cancel]).toEqual(['cancelled', code, false])
    expect(timeline.at(-1)).toMatchObject({ event: 'cancelled', ambiguous: code !== null })
    await clock.advance(9 * HOUR)
    expect(channel.calls).toHaveLength(1)
    expect(events.map(({ event, data }) => [event, data.error?.code ?? null])).toEqual([
      ['notification.cancelled', code],
    ])
    expect((await notifier.deadLetters.retry({ filter: {} })).retried).toBe(0)
  })

  it('reaches its own organization only', async () => {
    const { notifier, clock } = await deliveryWorld([recordingProvider()])
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
    const { id } = await notifier
      .organization(organizationId)
      .send({ ...mail, sendAt: new Date(clock.now() + HOUR) })
    await expect(notifier.notifications.cancel(id)).rejects.toMatchObject({ code: 'organization_mismatch' })
    await expect(notifier.notifications.cancel('notif_0')).rejects.toMatchObject({
      code: 'notification_not_found',
    })
    await notifier.organization(organizationId).notifications.cancel(id)
  })
})
