import { describe, expect, it } from 'vitest'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld, rejected, retry } from '../../../support/delivery-world.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { mail } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000

describe('two providers of one channel', () => {
  const pair = () => [recordingProvider({ name: 'first' }), recordingProvider({ name: 'second' })] as const

  it('are asked in their order', async () => {
    const [first, second] = pair()
    const { notifier, ended } = await deliveryWorld([first, second])
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
    const { notifier, clock, ended, history } = await deliveryWorld([first, second])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBe(0)
    expect((await history(id)).at(-1)).toBe('sent')
    expect((await notifier.notifications.get(id)).provider).toBe('second')
    expect(second.calls[0]?.context).toMatchObject({ attempt: 2, idempotencyKey: id })
  })

  it('are asked once each when both fail, and again when the retry is due', async () => {
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
    const { notifier, clock } = await deliveryWorld([failing('first'), failing('second')])
    await notifier.send(mail)
    await clock.advance(10_000)
    expect(asked).toEqual([0, 0, 10_000, 10_000])
  })

  it('bound the claims while histories are read, and then serve all', async () => {
    const inner = inMemory()
    const tried = await deliveryWorld(
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
    const { clock, storage } = await deliveryWorld(
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
    await clock.until(async () => (await storage.countJobs('all', 10)).counts.length === 0)
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
    const { notifier, ended } = await deliveryWorld([first, second])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe(expected)
    expect(second.calls).toEqual([])
  })

  it('take turns again after both have failed, however long the outage', async () => {
    const [first, second] = pair()
    first.behave(rejected('account'))
    second.behave(rejected('account'))
    const { notifier, ended, history } = await deliveryWorld([first, second])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe('failed')
    expect(first.calls.length + second.calls.length).toBe(128)
    expect(Math.abs(first.calls.length - second.calls.length)).toBeLessThanOrEqual(2)
    expect((await history(id)).at(-1)).toBe('failed: attempts_exhausted')
  })

  it('are not blocked by a second one that is paused for a day', async () => {
    const [first, second] = pair()
    first.behave(retry('provider', { retryAfterMs: 60_000 }))
    second.behave(retry('account', { retryAfterMs: 24 * HOUR }))
    const { notifier, clock, ended, status } = await deliveryWorld([first, second])
    const { id: warning } = await notifier.send(mail)
    await clock.advance(1_000)
    expect(await status(warning)).toBe('queued')
    const { id } = await notifier.send(mail)
    first.behave(async () => ({ kind: 'accepted' }))
    expect(await ended(id)).toBe('sent')
    expect(clock.monotonic()).toBeLessThan(HOUR)
  })

  it('go back to the first when the second is paused before its turn', async () => {
    const first = recordingProvider({ name: 'first', send: retry('provider', { retryAfterMs: 60_000 }) })
    const second = recordingProvider({ name: 'second', maxConcurrent: 1 })
    const { notifier, clock, ended } = await deliveryWorld([first, second])
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
    const { notifier, ended } = await deliveryWorld([first, second])
    const [a, b] = await Promise.all([notifier.send(mail), notifier.send({ ...mail, to: 'ada@example.org' })])
    await ended(a.id)
    await ended(b.id)
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
    await expect(notifier.send({ ...mail, to: 'ada@example.net' })).rejects.toMatchObject({
      code: 'invalid_recipient',
    })
  })
})
