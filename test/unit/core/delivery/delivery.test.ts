import { describe, expect, it } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import type { NotificationEvent } from '../../../../src/core/notification/event-payload.ts'
import type { NotificationContent } from '../../../../src/core/notification/notification.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { type Behaviour, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld, retry } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000

describe('one provider', () => {
  it('delivers, announces and records a notification', async () => {
    const channel = recordingProvider()
    const { notifier, ended, history, events } = await deliveryWorld([channel])
    const { id } = await notifier.send({ ...mail, subject: 'Hi' })
    expect(await ended(id)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'sent'])
    expect(channel.calls[0]).toMatchObject({
      message: { to: mail.to, subject: 'Hi', body: 'Hello', format: 'text' },
      context: { notificationId: id, organizationId: 'org_default', attempt: 1, idempotencyKey: id },
    })
    expect(events.map(({ event }) => event)).toEqual(['notification.sent'])
  })

  it('retries for as many weeks as its policy says', async () => {
    const channel = recordingProvider({
      send: retry('recipient'),
      retry: { kind: 'schedule', delaysMs: [24 * HOUR, 7 * 24 * HOUR, 14 * 24 * HOUR], jitter: 0 },
    })
    const { notifier, clock, ended, history } = await deliveryWorld([channel], {
      delivery: { pollMs: 24 * HOUR },
    })
    const { id } = await notifier.send(mail)
    const began = clock.monotonic()
    expect(await ended(id)).toBe('failed')
    expect(clock.monotonic() - began).toBeGreaterThanOrEqual(22 * 24 * HOUR)
    expect(channel.calls.map(({ context }) => context.attempt)).toEqual([1, 2, 3, 4])
    expect(await history(id)).toEqual([
      'queued',
      ...Array.from({ length: 4 }, () => 'attempt_failed: provider_unavailable'),
      'failed: attempts_exhausted',
    ])
    expect((await notifier.notifications.get(id)).error?.code).toBe('attempts_exhausted')
  })

  it('uses one idempotency key for all attempts', async () => {
    const channel = recordingProvider({ send: async () => ({ kind: 'ambiguous', reason: 'broken' }) })
    const { notifier, ended } = await deliveryWorld([channel])
    const { id } = await notifier.send(mail)
    await ended(id)
    expect(new Set(channel.calls.map(({ context }) => context.idempotencyKey))).toEqual(new Set([id]))
    expect(channel.calls).toHaveLength(8)
  })

  it('fails an ambiguous attempt at once if it says so', async () => {
    const channel = recordingProvider({
      onAmbiguous: 'fail',
      send: async () => ({ kind: 'ambiguous', reason: 'broken' }),
    })
    const { notifier, ended, history } = await deliveryWorld([channel])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe('failed')
    expect(await history(id)).toEqual(['queued', 'failed: delivery_unknown'])
    expect((await notifier.notifications.get(id)).timeline.at(-1)?.ambiguous).toBe(true)
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('x')
      },
    ],
    ['rejects with no error', () => Promise.reject(5)],
    ['never settles', () => new Promise(() => {})],
    ['answers garbage', async () => ({ kind: 'accepted?' })],
    [
      'answers an unknown code',
      async () => ({ kind: 'retry', code: 'no_such_code', retryAfterMs: Number.NaN }),
    ],
  ])('that %s fails only its own message', async (_name, poison) => {
    const channel = recordingProvider({ maxConcurrent: 2, timeoutMs: 1_000 })
    channel.behave((message, { notificationId }) =>
      message.body === 'poison'
        ? poison()
        : Promise.resolve({ kind: 'accepted', providerMessageId: notificationId }),
    )
    const { notifier, ended } = await deliveryWorld([channel])
    const bad = await notifier.send({ ...mail, body: 'poison' })
    const good = await notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    for (const item of good.items) expect(await ended('id' in item ? item.id : '')).toBe('sent')
    expect(await ended(bad.id)).toBe('failed')
    expect(channel.calls.filter(({ message }) => message.body === 'poison')).toHaveLength(8)
  })

  it('fails a message that cannot be rendered, and no other', async () => {
    const channel = recordingProvider()
    const many = Array.from({ length: 500 }, () => 1)
    // The accept would refuse these.
    const spoilt = (content: NotificationContent): NotificationContent => {
      if (!('variables' in content)) return content
      if (content.variables.lost === true)
        return { ...content, template: { id: 'tpl_x', name: 'x', version: 9 } }
      return content.variables.bomb === true ? { ...content, variables: { many } } : content
    }
    const { notifier, ended, history, storage } = await deliveryWorld([channel], {
      wrap: (inner) => ({
        accept: (requests) =>
          inner.accept(
            requests.map((request) => ({
              ...request,
              notifications: request.notifications.map((each) => ({
                ...each,
                content: spoilt(each.content),
              })),
            })),
          ),
      }),
    })
    expect(storage.name).toBe('sqlite')
    await notifier.templates.create({
      name: 't',
      channel: 'email',
      body: '{{#many}}{{#many}}{{#many}}{{#many}}{{x}}{{/many}}{{/many}}{{/many}}{{/many}}.',
    })
    const bomb = await notifier.send({ to: mail.to, template: 't', variables: { bomb: true } })
    const lost = await notifier.send({ to: mail.to, template: 't', variables: { lost: true } })
    const good = await notifier.send({
      to: mail.to,
      template: 't',
      variables: { many: [{ x: { toString: 1 } }] },
    })
    expect(await ended(bomb.id)).toBe('failed')
    expect(await history(bomb.id)).toEqual(['queued', 'failed: message_too_large'])
    expect(await ended(lost.id)).toBe('failed')
    expect(await history(lost.id)).toEqual(['queued', 'failed: template_error'])
    expect(await ended(good.id)).toBe('sent')
  })

  it('refuses a recipient over which its accepts() throws', async () => {
    const channel = recordingProvider({
      accepts(to) {
        if (to.startsWith('bad')) throw new Error('x')
        return true
      },
    })
    const { notifier } = await deliveryWorld([channel])
    const { items } = await notifier.sendBatch([{ ...mail, to: 'bad@example.com' }, mail])
    expect(items).toMatchObject([{ error: { code: 'invalid_recipient' } }, { status: 'queued' }])
  })

  it('fills every slot and exceeds none', async () => {
    let running = 0
    let most = 0
    const { clock, notifier, ended } = await deliveryWorld([
      recordingProvider({
        maxConcurrent: 3,
        send: () =>
          new Promise((resolve) => {
            running += 1
            most = Math.max(most, running)
            clock.timer(1_000, () => {
              running -= 1
              resolve({ kind: 'accepted' })
            })
          }),
      }),
    ])
    const { items } = await notifier.sendBatch(Array.from({ length: 12 }, () => mail))
    const began = clock.monotonic()
    for (const item of items) await ended('id' in item ? item.id : '')
    expect(most).toBe(3)
    expect(clock.monotonic() - began).toBe(4_000)
  })
})

it.each<[string, (inner: Storage) => Partial<Storage>, Behaviour]>([
  [
    'with a retry',
    () => ({}),
    (_message, { attempt }) =>
      attempt === 1 ? { kind: 'retry', scope: 'message', code: 'provider_error' } : { kind: 'accepted' },
  ],
  [
    'whose attempt could not begin',
    (inner) => {
      let faults = 1
      return {
        startAttempts: async (refs) => {
          if (refs.some(({ provider }) => provider === 'other') && faults-- > 0)
            throw new NotifierError('service_unavailable')
          return inner.startAttempts(refs)
        },
      }
    },
    () => ({ kind: 'accepted' }),
  ],
])('a message %s is delivered while everything else that is due waits', async (_which, wrap, send) => {
  const hanging = recordingProvider({ maxConcurrent: 1, send: () => new Promise(() => {}) })
  const other = recordingProvider({
    name: 'other',
    retry: { kind: 'schedule', delaysMs: [1_000], jitter: 0 },
    send,
  })
  const { notifier, clock, ended } = await deliveryWorld([], {
    channels: { email: hanging, sms: other },
    delivery: { pollMs: HOUR },
    wrap,
  })
  await notifier.sendBatch([mail, mail])
  await clock.advance(100)
  const { id } = await notifier.send({ channel: 'sms', to: '+14155552671', body: 'Hello' })
  expect(await ended(id)).toBe('sent')
  expect(clock.monotonic()).toBeLessThan(2_000)
})

describe('listeners', () => {
  it('that throw or reject affect no other', async () => {
    const heard: string[] = []
    const { notifier, ended } = await deliveryWorld([recordingProvider()])
    notifier.on('notification.sent', () => {
      throw new Error('x')
    })
    notifier.on('notification.sent', (async () => {
      throw new Error('y')
    }) as () => void)
    const last = ({ data }: NotificationEvent) => void heard.push(data.id)
    notifier.on('notification.sent', last)
    const { id } = await notifier.send(mail)
    await ended(id)
    expect(heard).toEqual([id])
    notifier.off('notification.sent', last)
    await ended((await notifier.send(mail)).id)
    expect(heard).toEqual([id])
  })
})
