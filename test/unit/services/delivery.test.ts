import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { NotificationEvent } from '../../../src/domain/event-payload.ts'
import { EVENT_TYPES } from '../../../src/domain/facts.ts'
import type { NotificationContent } from '../../../src/domain/notification.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import type { NotifierOptions } from '../../../src/options.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import type { Notifier } from '../../../src/services/notifier.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import {
  type Behaviour,
  type RecordingProvider,
  recordingProvider,
} from '../../../src/testing/recording-provider.ts'

const HOUR = 3_600_000
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

interface World {
  readonly clock: FakeClock
  readonly notifier: Notifier
  readonly storage: Storage
  readonly events: NotificationEvent[]
  readonly errors: Error[]
  status(id: string): Promise<string>
  /** The event names of a notification, with the codes of what failed. */
  history(id: string): Promise<string[]>
  ended(id: string): Promise<string>
}

async function world(
  channels: readonly RecordingProvider[],
  options: Partial<NotifierOptions> & { wrap?: (storage: Storage) => Partial<Storage> } = {},
): Promise<World> {
  const clock = fakeClock()
  const { wrap, ...others } = options
  const inner = options.storage ?? memoryStorage({ clock })
  const storage = { ...inner, ...wrap?.(inner) }
  const notifier = createNotifier({
    channels: { email: channels },
    clock,
    delivery: { pollMs: HOUR },
    ...others,
    storage,
  })
  const events: NotificationEvent[] = []
  const errors: Error[] = []
  for (const type of EVENT_TYPES) notifier.on(type, (event) => void events.push(event))
  notifier.on('error', (error) => void errors.push(error))
  await notifier.start()
  onTestFinished(async () => {
    const stopped = notifier.stop({ deadlineMs: 1 })
    await clock.advance(60_000)
    await stopped
  })
  const status = async (id: string) => (await notifier.notifications.get(id)).status
  return {
    clock,
    notifier,
    storage: inner,
    events,
    errors,
    status,
    async history(id) {
      const { timeline } = await notifier.notifications.get(id)
      return timeline.map(({ event, error }) => (error === null ? event : `${event}: ${error.code}`))
    },
    ended: (id) =>
      clock.until(async () => {
        const now = await status(id)
        return now === 'queued' || now === 'scheduled' ? null : now
      }),
  }
}

const retry =
  (scope: string, more: object = {}) =>
  async () => ({
    kind: 'retry',
    code: 'provider_unavailable',
    scope,
    ...more,
  })
const rejected =
  (scope: string, code = 'provider_auth_failed') =>
  async () => ({ kind: 'rejected', code, scope })

describe('one provider', () => {
  it('delivers, announces and remembers', async () => {
    const channel = recordingProvider()
    const { notifier, ended, history, events } = await world([channel])
    const { id } = await notifier.send({ ...mail, subject: 'Hi' })
    expect(await ended(id)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'sent'])
    expect(channel.calls[0]).toMatchObject({
      message: { to: mail.to, subject: 'Hi', body: 'Hello', format: 'text' },
      context: { notificationId: id, organizationId: 'org_default', attempt: 1, idempotencyKey: id },
    })
    expect(events.map(({ event }) => event)).toEqual(['notification.sent'])
  })

  it('keeps a failing recipient for weeks of policy, in milliseconds of ours', async () => {
    const channel = recordingProvider({
      send: retry('recipient'),
      retry: { kind: 'schedule', delaysMs: [24 * HOUR, 7 * 24 * HOUR, 14 * 24 * HOUR], jitter: 0 },
    })
    const { notifier, clock, ended, history } = await world([channel], { delivery: { pollMs: 24 * HOUR } })
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
    const { notifier, ended } = await world([channel])
    const { id } = await notifier.send(mail)
    await ended(id)
    expect(new Set(channel.calls.map(({ context }) => context.idempotencyKey))).toEqual(new Set([id]))
    expect(channel.calls).toHaveLength(8)
  })

  it('ends what is ambiguous as unknown, at once where the channel wants that', async () => {
    const channel = recordingProvider({
      onAmbiguous: 'fail',
      send: async () => ({ kind: 'ambiguous', reason: 'broken' }),
    })
    const { notifier, ended, history } = await world([channel])
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
  ])('that %s harms no other message, and ends its own as failed', async (_name, poison) => {
    const channel = recordingProvider({ maxConcurrent: 2, timeoutMs: 1_000 })
    channel.behave((message, { notificationId }) =>
      message.body === 'poison'
        ? poison()
        : Promise.resolve({ kind: 'accepted', providerMessageId: notificationId }),
    )
    const { notifier, ended } = await world([channel])
    const bad = await notifier.send({ ...mail, body: 'poison' })
    const good = await notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    for (const item of good.items) expect(await ended('id' in item ? item.id : '')).toBe('sent')
    expect(await ended(bad.id)).toBe('failed')
    expect(channel.calls.filter(({ message }) => message.body === 'poison')).toHaveLength(8)
  })

  it('ends a message that cannot be rendered, and its neighbours do not notice', async () => {
    const channel = recordingProvider()
    const many = Array.from({ length: 500 }, () => 1)
    // What the accept would refuse, or never make.
    const spoilt = (content: NotificationContent): NotificationContent => {
      if (!('template' in content)) return content
      if (content.variables.lost === true)
        return { ...content, template: { id: 'tpl_x', name: 'x', version: 9 } }
      return content.variables.bomb === true ? { ...content, variables: { many } } : content
    }
    const { notifier, ended, history, storage } = await world([channel], {
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
    expect(storage.name).toBe('memory')
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

  it('refuses at accept what its accepts() throws over', async () => {
    const channel = recordingProvider({
      accepts(to) {
        if (to.startsWith('bad')) throw new Error('x')
        return true
      },
    })
    const { notifier } = await world([channel])
    const { items } = await notifier.sendBatch([{ ...mail, to: 'bad@example.com' }, mail])
    expect(items).toMatchObject([{ error: { code: 'invalid_recipient' } }, { status: 'queued' }])
  })

  it('never runs more at once than it allows, and fills every slot', async () => {
    let running = 0
    let most = 0
    const { clock, notifier, ended } = await world([
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

describe('times', () => {
  it('keeps a scheduled notification until its time', async () => {
    const channel = recordingProvider()
    const { notifier, clock, status } = await world([channel])
    const { id, status: first } = await notifier.send({ ...mail, sendAt: new Date(clock.now() + 10 * HOUR) })
    expect(first).toBe('scheduled')
    await clock.advance(10 * HOUR - 1)
    expect([await status(id), channel.calls.length]).toEqual(['scheduled', 0])
    await clock.advance(1)
    expect([await status(id), channel.calls.length]).toEqual(['sent', 1])
  })

  it('takes a time in the past as now, and refuses one too far ahead', async () => {
    const { notifier, clock, ended } = await world([recordingProvider()])
    const { id, status } = await notifier.send({ ...mail, sendAt: new Date(clock.now() - 1) })
    expect([status, await ended(id)]).toEqual(['queued', 'sent'])
    const far = new Date(clock.now() + 367 * 24 * HOUR)
    await expect(notifier.send({ ...mail, sendAt: far })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'sendAt' },
    })
  })

  it('hands nothing over after its expiry', async () => {
    const channel = recordingProvider({ send: retry('recipient', { retryAfterMs: HOUR }) })
    const { notifier, clock, ended, history } = await world([channel])
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

  it('ends what expired while its provider rested, without asking it', async () => {
    const channel = recordingProvider({
      maxConcurrent: 1,
      send: retry('account', { retryAfterMs: 5 * HOUR }),
    })
    const { notifier, clock, ended, history } = await world([channel])
    await notifier.send(mail)
    const { id } = await notifier.send({ ...mail, expiresAt: new Date(clock.now() + HOUR) })
    expect(await ended(id)).toBe('failed')
    expect(await history(id)).toEqual(['queued', 'failed: expired'])
  })

  it('hands nothing over that expired while its attempt was being recorded', async () => {
    const channel = recordingProvider()
    let pass: (ms: number) => Promise<void> = async () => {}
    const { notifier, clock, ended, history } = await world([channel], {
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

  it.each([0, -1])('refuses an expiry %i ms from now, or from the time of sending', async (ms) => {
    const { notifier, clock } = await world([recordingProvider()])
    const sendAt = new Date(clock.now() + HOUR)
    const refusal = { code: 'invalid_parameter', details: { field: 'expiresAt' } }
    const now = new Date(clock.now() + ms)
    await expect(notifier.send({ ...mail, expiresAt: now })).rejects.toMatchObject(refusal)
    const later = new Date(sendAt.getTime() + ms)
    await expect(notifier.send({ ...mail, sendAt, expiresAt: later })).rejects.toMatchObject(refusal)
  })
})

describe('cancel', () => {
  it('wins while no attempt has begun', async () => {
    const channel = recordingProvider()
    const { notifier, clock, events, history } = await world([channel])
    const { id } = await notifier.send({ ...mail, sendAt: new Date(clock.now() + HOUR) })
    expect(await notifier.notifications.cancel(id)).toMatchObject({ status: 'cancelled' })
    await clock.advance(2 * HOUR)
    expect(channel.calls).toEqual([])
    expect(await history(id)).toEqual(['scheduled', 'cancelled'])
    expect(events.map(({ event }) => event)).toEqual(['notification.cancelled'])
    await expect(notifier.notifications.cancel(id)).rejects.toMatchObject({ code: 'not_cancellable' })
  })

  it('comes too late while an attempt runs, between attempts and after the end', async () => {
    const channel = recordingProvider({ send: retry('recipient', { retryAfterMs: HOUR }) })
    const { notifier, clock } = await world([channel])
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    await expect(notifier.notifications.cancel(id)).rejects.toThrow('too late')
    channel.behave(async () => ({ kind: 'accepted' }))
    await clock.advance(2 * HOUR)
    await expect(notifier.notifications.cancel(id)).rejects.toThrow('it has ended')
  })

  it('knows its own organization only', async () => {
    const { notifier, clock } = await world([recordingProvider()])
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

describe('two providers', () => {
  const pair = () => [recordingProvider({ name: 'first' }), recordingProvider({ name: 'second' })] as const

  it('are asked in their order', async () => {
    const [first, second] = pair()
    const { notifier, ended } = await world([first, second])
    const { id } = await notifier.send(mail)
    await ended(id)
    expect([first.calls.length, second.calls.length]).toEqual([1, 0])
  })

  it.each([
    ['rejected: account', rejected('account')],
    ['rejected: provider', rejected('provider')],
    ['retry: account', retry('account', { retryAfterMs: HOUR })],
    ['retry: provider', retry('provider')],
  ])('fail over at once: %s', async (_name, fault) => {
    const [first, second] = pair()
    first.behave(fault)
    const { notifier, clock, ended, history } = await world([first, second])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBe(0)
    expect((await history(id)).at(-1)).toBe('sent')
    expect((await notifier.notifications.get(id)).provider).toBe('second')
    expect(second.calls[0]?.context).toMatchObject({ attempt: 2, idempotencyKey: id })
  })

  it('that both fail are asked once each, and again when it is time', async () => {
    const asked: number[] = []
    const policy = { kind: 'schedule', delaysMs: [10_000, 10_000], jitter: 0 } as const
    const failing = (name: string) =>
      recordingProvider({
        name,
        retry: policy,
        send: () => {
          asked.push(clock.monotonic())
          return { kind: 'retry', scope: 'provider', code: 'provider_unavailable' }
        },
      })
    const { notifier, clock } = await world([failing('first'), failing('second')])
    await notifier.send(mail)
    await clock.advance(10_000)
    expect(asked).toEqual([0, 0, 10_000, 10_000])
  })

  it('are claimed for no faster than they can be asked while histories are read, and then serve all', async () => {
    const inner = memoryStorage()
    const tried = await world(
      ['first', 'second'].map((name) =>
        recordingProvider({
          name,
          maxConcurrent: 10,
          retry: { kind: 'schedule', delaysMs: [1_000], jitter: 0 },
          send: () => ({ kind: 'retry', scope: 'message', code: 'provider_error' }),
        }),
      ),
      { storage: inner },
    )
    await tried.notifier.sendBatch(Array.from({ length: 6 }, () => mail))
    await tried.clock.advance(1)
    await tried.notifier.stop()
    let most = 0
    let reads = 0
    const { clock, storage } = await world(
      ['first', 'second'].map((name) => recordingProvider({ name, maxConcurrent: 1 })),
      {
        storage: inner,
        wrap: () => ({
          notifications: {
            ...inner.notifications,
            async timeline(id) {
              reads += 1
              most = Math.max(most, reads)
              await new Promise<void>((resolve) => clock.timer(100, resolve))
              reads -= 1
              return inner.notifications.timeline(id)
            },
          },
        }),
        delivery: { pollMs: 1_000 },
      },
    )
    await clock.until(async () => (await storage.backlog(10)).lanes.length === 0)
    expect(most).toBe(2)
  })

  it.each([
    ['recipient', rejected('recipient', 'blocked_recipient'), 'failed'],
    ['message', rejected('message', 'content_rejected'), 'failed'],
    ['retry: recipient', retry('recipient'), 'failed'],
    ['ambiguous', async () => ({ kind: 'ambiguous', reason: 'broken' }), 'failed'],
  ])('do not fail over: %s', async (_name, fault, expected) => {
    const [first, second] = pair()
    first.behave(fault)
    const { notifier, ended } = await world([first, second])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe(expected)
    expect(second.calls).toEqual([])
  })

  it('take turns again after both have failed, for as long as an outage may last', async () => {
    const [first, second] = pair()
    first.behave(rejected('account'))
    second.behave(rejected('account'))
    const { notifier, ended, history } = await world([first, second])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe('failed')
    expect(first.calls.length + second.calls.length).toBe(128)
    expect(Math.abs(first.calls.length - second.calls.length)).toBeLessThanOrEqual(2)
    expect((await history(id)).at(-1)).toBe('failed: attempts_exhausted')
  })

  it('are not stuck behind a second one that rests for a day', async () => {
    const [first, second] = pair()
    first.behave(retry('provider', { retryAfterMs: 60_000 }))
    second.behave(retry('account', { retryAfterMs: 24 * HOUR }))
    const { notifier, clock, ended, status } = await world([first, second])
    const { id: warning } = await notifier.send(mail)
    await clock.advance(1_000)
    expect(await status(warning)).toBe('queued')
    const { id } = await notifier.send(mail)
    first.behave(async () => ({ kind: 'accepted' }))
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(HOUR)
  })

  it('go back to the first when the second rests before it was their turn', async () => {
    const first = recordingProvider({ name: 'first', send: retry('provider', { retryAfterMs: 60_000 }) })
    const second = recordingProvider({ name: 'second', maxConcurrent: 1 })
    const { notifier, clock, ended } = await world([first, second])
    second.behave(
      () =>
        new Promise((resolve) => {
          const fault = {
            kind: 'retry',
            code: 'provider_quota_exceeded',
            scope: 'account',
            retryAfterMs: 24 * HOUR,
          }
          clock.timer(1_000, () => resolve(fault))
        }),
    )
    const [, waiting] = await Promise.all([notifier.send(mail), notifier.send(mail)])
    await clock.advance(2_000)
    expect([first.calls.length, second.calls.length]).toEqual([2, 1])
    first.behave(async () => ({ kind: 'accepted' }))
    expect(await ended(waiting.id)).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(2 * 60_000)
  })

  it('get only the recipients that they accept', async () => {
    const first = recordingProvider({ name: 'first', accepts: (to) => to.endsWith('.com') })
    const second = recordingProvider({ name: 'second', accepts: (to) => to.endsWith('.org') })
    const { notifier, ended } = await world([first, second])
    const [a, b] = await Promise.all([notifier.send(mail), notifier.send({ ...mail, to: 'ada@example.org' })])
    await ended(a.id)
    await ended(b.id)
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
    await expect(notifier.send({ ...mail, to: 'ada@example.net' })).rejects.toMatchObject({
      code: 'invalid_recipient',
    })
  })
})

/** A message that has met twenty faults of its provider. */
async function afterOutage(
  options: Parameters<typeof world>[1] = {},
): Promise<World & { readonly channel: RecordingProvider }> {
  const channel = recordingProvider({ send: retry('provider') })
  const made = await world([channel], options)
  await made.notifier.send(mail)
  await made.clock.until(() => channel.calls.length === 20)
  await made.clock.advance(0)
  return { ...made, channel }
}

describe('a fault of the provider', () => {
  it('that one message causes holds up the others for one rest: another one tries it after that', async () => {
    const email = recordingProvider({
      maxConcurrent: 1,
      send: async ({ to }) =>
        to.startsWith('cause')
          ? { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
          : { kind: 'accepted' },
    })
    const { notifier, clock, ended } = await world([email])
    await notifier.send({ ...mail, to: 'cause@example.com' })
    await clock.advance(10)
    const { items } = await notifier.sendBatch(Array.from({ length: 10 }, () => mail))
    await clock.advance(31_000)
    for (const item of items) expect(await ended('id' in item ? item.id : '')).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(32_000)
  })

  it('burns no attempts of the messages that wait', async () => {
    const channel = recordingProvider({ maxConcurrent: 5, send: retry('provider') })
    const { notifier, clock, status } = await world([channel])
    const { items } = await notifier.sendBatch(Array.from({ length: 100 }, () => mail))
    await clock.advance(60_000)
    expect(channel.calls.length).toBeLessThan(20)
    channel.behave(async () => ({ kind: 'accepted' }))
    await clock.until(async () => {
      const all = await Promise.all(items.map((item) => status('id' in item ? item.id : '')))
      return all.every((one) => one === 'sent')
    })
    expect(new Set(channel.calls.map(({ context }) => context.notificationId)).size).toBe(100)
  })

  it('loses no message to an outage of hours, not the only one that waits either', async () => {
    const channel = recordingProvider({ send: retry('provider') })
    const { notifier, clock, ended, status } = await world([channel])
    const { id } = await notifier.send(mail)
    await clock.advance(6 * HOUR)
    expect(await status(id)).toBe('queued')
    channel.behave(async () => ({ kind: 'accepted' }))
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(6.5 * HOUR)
  })

  it('leaves a message its own attempts: after an outage one reply of the recipient does not end it', async () => {
    const { channel, notifier, clock, ended, history } = await afterOutage()
    channel.behave(retry('recipient'))
    await clock.until(() => channel.calls.length > 21)
    channel.behave(async () => ({ kind: 'accepted' }))
    const id = channel.calls[0]?.context.notificationId ?? ''
    expect(await ended(id)).toBe('sent')
    expect((await history(id)).filter((event) => event.startsWith('attempt_failed')).length).toBeGreaterThan(
      20,
    )
    expect((await notifier.notifications.get(id)).timeline.at(-1)?.attempt).toBe(channel.calls.length)
  })

  it('leaves a message its own attempts: after an outage a crash does not end it', async () => {
    let crashed = false
    const { channel, clock, ended, history } = await afterOutage({
      delivery: { leaseMs: 60_000, pollMs: 30_000 },
      // The outcome never reaches the storage: the lease runs out, as after the death of the process.
      wrap: (inner) => ({
        settle: async (settlements) =>
          crashed ? settlements.map(() => ({ kind: 'stale' as const })) : inner.settle(settlements),
      }),
    })
    crashed = true
    channel.behave(async () => ({ kind: 'accepted' }))
    await clock.until(() => channel.calls.length > 20)
    await clock.advance(1)
    crashed = false
    const id = channel.calls[0]?.context.notificationId ?? ''
    expect(await ended(id)).toBe('sent')
    expect((await history(id)).at(-2)).toBe('attempt_ambiguous: delivery_unknown')
  })

  it('lets the provider rest as long as it asks for', async () => {
    const channel = recordingProvider({ maxConcurrent: 5, send: retry('account', { retryAfterMs: HOUR }) })
    const { notifier, clock } = await world([channel])
    await notifier.sendBatch(Array.from({ length: 30 }, () => mail))
    await clock.advance(HOUR - 1)
    expect(channel.calls).toHaveLength(5)
    await clock.advance(1)
    expect(channel.calls).toHaveLength(6)
  })

  it('does not touch the other channels', async () => {
    const channel = recordingProvider({ send: retry('account', { retryAfterMs: HOUR }) })
    const sms = recordingProvider({ name: 'sms' })
    const { notifier, clock, ended } = await world([], { channels: { email: channel, sms } })
    await notifier.send(mail)
    const { id } = await notifier.send({ channel: 'sms', to: '+14155550123', body: 'x' })
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBe(0)
  })

  it('of a timeout is none: the circuit stays as it was', async () => {
    const channel = recordingProvider({ maxConcurrent: 4, timeoutMs: 1_000, send: rejected('account') })
    const { notifier, clock } = await world([channel])
    await notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    await clock.advance(29_999)
    channel.behave(() => new Promise(() => {}))
    const before = channel.calls.length
    await clock.advance(1_000)
    // The probe has not answered: there is no second one beside it.
    expect(channel.calls.length - before).toBe(1)
    await clock.advance(3_000)
    expect(channel.calls.length - before).toBe(2)
  })
})

describe('a storage that fails', () => {
  const unavailable = () => Promise.reject(new NotifierError('service_unavailable'))

  it('never makes a send resolve for something that is not stored', async () => {
    let down = true
    const { notifier, clock, storage } = await world([recordingProvider()], {
      wrap: (inner) => ({ accept: (requests) => (down ? unavailable() : inner.accept(requests)) }),
    })
    const sends = await Promise.allSettled(Array.from({ length: 50 }, () => notifier.send(mail)))
    for (const send of sends)
      expect(send).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } })
    await expect(notifier.sendBatch([mail])).rejects.toMatchObject({ code: 'service_unavailable' })
    const stored = await storage.notifications.list(
      { organizationId: 'org_default' },
      { limit: 10, offset: 0 },
    )
    expect(stored.items).toEqual([])
    down = false
    await notifier.send(mail)
    await clock.advance(0)
  })

  it('slows the claims down, reports it, and goes on when it is back', async () => {
    let down = true
    let claims = 0
    const channel = recordingProvider()
    const { notifier, clock, status, errors } = await world([channel], {
      delivery: { pollMs: 1_000 },
      wrap: (inner) => ({
        claim(request) {
          claims += 1
          return down ? unavailable() : inner.claim(request)
        },
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(10 * 60_000)
    expect(claims).toBeLessThan(40)
    expect(errors.length).toBe(claims)
    expect(await status(id)).toBe('queued')
    down = false
    await clock.advance(30_000)
    expect(await status(id)).toBe('sent')
    expect(channel.calls).toHaveLength(1)
  })

  it('does not make a second hand-over while the lease lasts', async () => {
    let down = 5
    const channel = recordingProvider()
    const { notifier, clock, status, errors, history } = await world([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        settle(settlements) {
          down -= 1
          return down >= 0 ? unavailable() : inner.settle(settlements)
        },
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(50_000)
    expect(await status(id)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'sent'])
    expect([channel.calls.length, errors.length]).toEqual([1, 5])
  })

  it('has an outcome within five seconds of being back', async () => {
    let down = true
    const { notifier, clock, status } = await world([recordingProvider()], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        settle: (settlements) => (down ? unavailable() : inner.settle(settlements)),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(40_000)
    down = false
    await clock.advance(5_000)
    expect(await status(id)).toBe('sent')
  })

  it('that lost an outcome for good marks the attempt, and tries again', async () => {
    let down = true
    const channel = recordingProvider()
    const { notifier, clock, ended, history } = await world([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        settle: (settlements) => (down ? unavailable() : inner.settle(settlements)),
        renew: (refs, leaseMs) => (down ? unavailable() : inner.renew(refs, leaseMs)),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(120_000)
    down = false
    expect(await ended(id)).toBe('sent')
    expect(channel.calls.length).toBeGreaterThanOrEqual(2)
    expect((await history(id)).filter((event) => event.startsWith('attempt_ambiguous'))).toHaveLength(
      channel.calls.length - 1,
    )
  })

  it('that cannot begin an attempt lets nothing out', async () => {
    let down = true
    const channel = recordingProvider()
    const { notifier, clock, ended, history } = await world([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({ startAttempts: (refs) => (down ? unavailable() : inner.startAttempts(refs)) }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(30_000)
    expect(channel.calls).toEqual([])
    down = false
    expect(await ended(id)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'sent'])
  })

  it('that can begin no attempt is asked more and more rarely, and at once after a single failure', async () => {
    let down = 1
    let asked = 0
    const { notifier, clock, status } = await world([recordingProvider()], {
      delivery: { leaseMs: 60_000, pollMs: HOUR },
      wrap: (inner) => ({
        startAttempts(refs) {
          asked += 1
          down -= 1
          return down >= 0 ? unavailable() : inner.startAttempts(refs)
        },
      }),
    })
    const single = await notifier.send(mail)
    await clock.advance(100)
    expect([await status(single.id), asked]).toEqual(['sent', 2])
    down = Number.POSITIVE_INFINITY
    const { id } = await notifier.send(mail)
    await clock.advance(60_000)
    expect(asked).toBeGreaterThan(15)
    expect(asked).toBeLessThan(30)
    down = 0
    await clock.advance(6_000)
    expect(await status(id)).toBe('sent')
    down = 1
    const after = await notifier.send(mail)
    await clock.advance(100)
    expect(await status(after.id)).toBe('sent')
  })
})

it.each<[string, (inner: Storage) => Partial<Storage>, Behaviour]>([
  [
    'that is to be tried again',
    () => ({}),
    (_message, { attempt }) =>
      attempt === 1 ? { kind: 'retry', scope: 'message', code: 'provider_error' } : { kind: 'accepted' },
  ],
  [
    'that goes back because it could not be begun',
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
])(
  'a message %s is not forgotten while everything else that is due has to wait',
  async (_which, wrap, send) => {
    const hanging = recordingProvider({ maxConcurrent: 1, send: () => new Promise(() => {}) })
    const other = recordingProvider({
      name: 'other',
      retry: { kind: 'schedule', delaysMs: [1_000], jitter: 0 },
      send,
    })
    const { notifier, clock, ended } = await world([], {
      channels: { email: hanging, sms: other },
      delivery: { pollMs: HOUR },
      wrap,
    })
    await notifier.sendBatch([mail, mail])
    await clock.advance(100)
    const { id } = await notifier.send({ channel: 'sms', to: '+14155552671', body: 'Hello' })
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(2_000)
  },
)

describe('leases', () => {
  it('are renewed for as long as an attempt takes', async () => {
    let end = (): void => {}
    const channel = recordingProvider({
      timeoutMs: HOUR / 2,
      send: () => new Promise((resolve) => (end = () => resolve({ kind: 'accepted' }))),
    })
    const { notifier, clock, status, storage } = await world([channel], {
      delivery: { leaseMs: HOUR, pollMs: HOUR },
    })
    const other = await storage.claim({ lanes: [], leaseMs: 1 })
    expect(other.jobs).toEqual([])
    const { id } = await notifier.send(mail)
    await clock.advance(25 * 60_000)
    expect(channel.calls).toHaveLength(1)
    end()
    await clock.advance(1)
    expect(await status(id)).toBe('sent')
  })

  it.each([HOUR, -HOUR])('outlast a step of the clock by %s ms', async (stepMs) => {
    const channel = recordingProvider({ timeoutMs: 30_000, send: () => new Promise(() => {}) })
    const renewed: number[] = []
    const { notifier, clock, ended, history } = await world([channel], {
      delivery: { leaseMs: 60_000, pollMs: 1_000 },
      wrap: (inner) => ({
        renew(refs, leaseMs) {
          renewed.push(refs.length)
          return inner.renew(refs, leaseMs)
        },
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(5_000)
    clock.correct(stepMs)
    channel.behave(async () => ({ kind: 'accepted' }))
    const other = await notifier.send(mail)
    expect(await ended(other.id)).toBe('sent')
    expect(renewed).toEqual([1])
    await clock.advance(15_000)
    expect(await history(id)).toEqual(['queued'])
    expect(channel.calls).toHaveLength(2)
  })

  it('that ended with an attempt leave its policy in force, however long the provider rests after that', async () => {
    let crashed = true
    const send = async () => ({ kind: 'accepted' })
    const [first, second] = ['first', 'second'].map((name) =>
      recordingProvider({ name, onAmbiguous: 'fail', send }),
    ) as [RecordingProvider, RecordingProvider]
    const { notifier, clock, ended, history } = await world([first, second], {
      delivery: { leaseMs: 60_000, pollMs: 30_000 },
      // The outcome never reaches the storage: the lease runs out, as after the death of the process.
      wrap: (inner) => ({
        settle: async (settlements) =>
          crashed ? settlements.map(() => ({ kind: 'stale' as const })) : inner.settle(settlements),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.until(() => first.calls.length > 0)
    await clock.advance(1)
    crashed = false
    first.behave(retry('provider', { retryAfterMs: 10 * 60_000 }))
    const other = await notifier.send(mail)
    expect(await ended(other.id)).toBe('sent')
    await clock.advance(5 * 60_000)
    // It waits for the one provider that may know it, and holds up nobody.
    const { id: third } = await notifier.send(mail)
    expect(await ended(third)).toBe('sent')
    expect(await history(id)).toEqual(['queued', 'attempt_ambiguous: delivery_unknown'])
    expect(await ended(id)).toBe('failed')
    expect((await history(id)).at(-1)).toBe('failed: delivery_unknown')
    const asked = [...first.calls, ...second.calls].map(({ context }) => context.notificationId)
    expect(asked.filter((one) => one === id)).toHaveLength(1)
  })

  it('that were lost abort the attempt, and its outcome changes nothing', async () => {
    const channel = recordingProvider({
      send: (_message, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'accepted' }))),
    })
    let lost = false
    const { notifier, clock, history } = await world([channel], {
      wrap: (inner) => ({
        renew: async (refs, leaseMs) => (lost ? refs.map(() => false) : inner.renew(refs, leaseMs)),
        settle: async (settlements) =>
          lost ? settlements.map(() => ({ kind: 'stale' })) : inner.settle(settlements),
      }),
    })
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    lost = true
    const losses = async () => (await notifier.metrics()).counters.leasesLost
    expect(await losses()).toEqual([])
    await clock.advance(20_000)
    expect(channel.calls[0]?.context.signal.aborted).toBe(true)
    expect(await history(id)).toEqual(['queued'])
    expect(await losses()).toEqual([{ labels: {}, value: 1 }])
  })
})

describe('listeners', () => {
  it('that throw or reject harm nobody', async () => {
    const heard: string[] = []
    const { notifier, ended } = await world([recordingProvider()])
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
