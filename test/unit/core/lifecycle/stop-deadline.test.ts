import { describe, expect, it } from 'vitest'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import type { Telemetry } from '../../../../src/core/ports/telemetry.ts'
import { settled } from '../../../../src/testing/fake-clock.ts'
import { type Behaviour, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierOverStorage } from '../../../support/notifier-over-storage.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const never = (): Promise<never> => new Promise(() => {})

describe('the deadline of a stop', () => {
  it('covers calls, attempts and providers together', async () => {
    const never = (): Promise<never> => new Promise(() => {})
    const { notifier, clock, counts } = notifierOverStorage(
      { accept: never },
      recordingProvider({ close: never }),
    )
    await notifier.start()
    notifier.send(mail).catch(() => {})
    await settled()
    const began = clock.monotonic()
    let stoppedAfter = 0
    const stopping = notifier.stop({ timeoutMs: 10_000 }).then(() => {
      stoppedAfter = clock.monotonic() - began
    })
    await clock.advance(60_000)
    await stopping
    expect(counts.stop).toBe(1)
    // A second is added in which channels may close.
    expect(stoppedAfter).toBeGreaterThanOrEqual(10_000)
    expect(stoppedAfter).toBeLessThanOrEqual(11_000)
  })

  it('aborts attempts, and records that', async () => {
    const channel = recordingProvider({
      send: (_message, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'ambiguous', reason: 'aborted' })),
        ),
    })
    const { notifier, clock, counts } = notifierOverStorage({}, channel)
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop({ timeoutMs: 3_000 })
    await clock.advance(2_999)
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([false, 0])
    await clock.advance(1)
    await stopped
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([true, 1])
  })

  it('keeps claimed messages from beginning an attempt', async () => {
    const world = notifierWorld()
    const { clock, storage } = world
    const retry = { kind: 'schedule', delaysMs: [1_000], jitter: 0 } as const
    const two = (send: Behaviour) => ['a', 'b'].map((name) => recordingProvider({ name, retry, send }))
    const failing = await world.start({
      channels: { email: two(() => ({ kind: 'retry', scope: 'recipient', code: 'provider_error' })) },
    })
    const { id } = await failing.send(mail)
    await clock.advance(0)
    await failing.stop()
    const timeline: typeof storage.notifications.timeline = async (id) => {
      await new Promise<void>((resolve) => clock.timer(500, resolve))
      return storage.notifications.timeline(id)
    }
    const channels = two(() => new Promise(() => {}))
    const notifier = await world.start({
      storage: { ...storage, notifications: { ...storage.notifications, timeline } },
      channels: { email: channels },
    })
    // Whoever has not tried it before asks first whom it may ask.
    await clock.advance(1_000)
    const stopped = notifier.stop({ timeoutMs: 1 })
    await clock.advance(5_000)
    await stopped
    expect(channels.flatMap(({ calls }) => calls)).toEqual([])
    expect((await storage.notifications.timeline(id)).at(-1)?.fact?.message).toMatch(/was not asked/)
  })

  it('can be brought forward by a second stop', async () => {
    const channel = recordingProvider({
      send: (_message, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'ambiguous', reason: 'aborted' })),
        ),
    })
    const { notifier, clock, counts } = notifierOverStorage({}, channel)
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop()
    await clock.advance(2_000)
    void notifier.stop()
    await clock.advance(0)
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([false, 0])
    void notifier.stop({ timeoutMs: 1 })
    await clock.advance(1)
    await stopped
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([true, 1])
  })

  it.each<[string, Partial<Storage>, () => void | Promise<void>]>([
    ['a call that hangs', { logs: { list: never, count: never } }, () => {}],
    ['a claim that hangs', { claim: never }, () => {}],
    ['an outcome that cannot be stored', { settle: never }, () => {}],
    ['a provider that does not close', {}, never],
  ])('can be brought forward by a second stop in spite of %s', async (_name, change, close) => {
    const { notifier, clock, counts } = notifierOverStorage(change, recordingProvider({ close }))
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    void notifier.logs.list().catch(() => {})
    const stopped = notifier.stop({ timeoutMs: 600_000 })
    await clock.advance(2_000)
    expect(counts.stop).toBe(0)
    void notifier.stop({ timeoutMs: 1_000 })
    // Aborted attempts have three seconds to report, and channels one to close.
    await clock.advance(5_000)
    expect(counts.stop).toBe(1)
    await stopped
  })

  it.each<[string, Partial<Storage>, Telemetry[]]>([
    ['telemetry', {}, [{ name: 'otel', stop: never }]],
    ['storage', { stop: never }, []],
  ])('ends a stop, and is reported, if the %s does not close', async (what, change, telemetry) => {
    const closed: string[] = []
    const plugin = { name: 'other', stop: () => void closed.push('other') }
    const { notifier, clock } = notifierOverStorage(change, recordingProvider(), [...telemetry, plugin])
    const told: unknown[] = []
    notifier.on('error', (error) => told.push(error))
    await notifier.start()
    let stoppedAfter = 0
    const stopping = notifier.stop({ timeoutMs: 3_000 }).then(() => {
      stoppedAfter = clock.monotonic()
    })
    await clock.advance(60_000)
    await stopping
    expect(stoppedAfter).toBe(3_000)
    expect(closed).toEqual(['other'])
    expect(told).toMatchObject([
      {
        code: 'service_unavailable',
        message: `The ${what} did not close before the deadline of the stop.`,
      },
    ])
  })

  it('leaves a slow storage the time to close', async () => {
    let events = ''
    const stop = (): Promise<void> =>
      new Promise((resolve) => {
        clock.timer(9_000, () => {
          events += 'closed '
          resolve()
        })
      })
    const { notifier, clock } = notifierOverStorage({ stop })
    await notifier.start()
    const stopping = notifier.stop().then(() => {
      events += 'stopped'
    })
    await clock.advance(10_000)
    await stopping
    expect(events).toBe('closed stopped')
  })

  it('cannot be postponed by a second stop', async () => {
    const { notifier, clock, counts } = notifierOverStorage({ logs: { list: never, count: never } })
    await notifier.start()
    void notifier.logs.list().catch(() => {})
    const stopped = notifier.stop({ timeoutMs: 3_000 })
    void notifier.stop({ timeoutMs: 600_000 })
    await clock.advance(3_000)
    expect(counts.stop).toBe(1)
    await stopped
  })

  it.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('x')
      },
    ],
    ['rejects', () => Promise.reject(new Error('x'))],
    ['never settles', () => new Promise(() => {})],
  ])('closes the storage even if the close of a provider %s', async (_name, close) => {
    const { notifier, clock, counts } = notifierOverStorage({}, recordingProvider({ close }))
    await notifier.start()
    const stopped = notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(1_000)
    await stopped
    expect(counts.stop).toBe(1)
  })
})
