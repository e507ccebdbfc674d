import { describe, expect, it } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock, settled } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierOverStorage } from '../../../support/notifier-over-storage.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

describe('start', () => {
  it('opens the storage once, however often it is called', async () => {
    const { notifier, counts } = notifierOverStorage()
    await Promise.all([notifier.start(), notifier.start()])
    await notifier.start()
    expect(counts.start).toBe(1)
    await notifier.stop()
  })

  it('precedes every other method', async () => {
    const { notifier } = notifierOverStorage()
    const calls = [
      () => notifier.send(mail),
      () => notifier.sendBatch([mail]),
      () => notifier.validate(mail),
      () => notifier.notifications.list(),
      () => notifier.templates.list(),
      () => notifier.apiKeys.verify('x'),
      () => notifier.organizations.list(),
      () => notifier.webhooks.list(),
      () => notifier.suppressions.list(),
      () => notifier.logs.list(),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'not_started', status: 503 })
    const starting = notifier.start()
    const early = { code: 'not_started', message: expect.stringContaining('await start()') }
    await Promise.all(calls.map((call) => expect(call()).rejects.toMatchObject(early)))
    await starting
    await notifier.send(mail)
    await notifier.stop()
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('can be repeated after a failure', async () => {
    let down = true
    const { notifier } = notifierOverStorage(({ records }) => ({
      records: {
        ...records,
        async write(sets) {
          if (down) throw new NotifierError('service_unavailable')
          return records.write(sets)
        },
      },
    }))
    await expect(notifier.start()).rejects.toMatchObject({ code: 'service_unavailable' })
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'not_started' })
    down = false
    await notifier.start()
    await notifier.send(mail)
    await notifier.stop()
  })

  it('is refused after a stop', async () => {
    const { notifier } = notifierOverStorage()
    await notifier.start()
    await notifier.stop()
    await expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
  })

  it('without delivery only accepts', async () => {
    const { notifier, clock, channel } = notifierOverStorage()
    await notifier.start({ deliver: false })
    const { id } = await notifier.send(mail)
    await clock.advance(60_000)
    expect(channel.calls).toEqual([])
    expect((await notifier.notifications.get(id)).status).toBe('queued')
    await notifier.stop()
  })
})

describe('stop', () => {
  it('closes the storage once, however often it is called', async () => {
    let closed = 0
    const close = () => {
      closed += 1
    }
    const { notifier, counts } = notifierOverStorage({}, recordingProvider({ close }))
    await notifier.start()
    await Promise.all([notifier.stop(), notifier.stop(), notifier[Symbol.asyncDispose]()])
    expect([counts.stop, closed]).toEqual([1, 1])
  })

  it('opens nothing before a start', async () => {
    const { notifier, counts } = notifierOverStorage()
    await notifier.stop()
    expect(counts).toEqual({ start: 0, stop: 0 })
    await expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
  })

  it('waits for a start that is under way and delivers nothing', async () => {
    let open = (): void => {}
    const { notifier, counts, channel } = notifierOverStorage({
      start: () => new Promise((resolve) => (open = resolve)),
    })
    const started = notifier.start()
    const stopped = notifier.stop()
    await settled()
    open()
    await Promise.all([started, stopped])
    expect(counts.stop).toBe(1)
    expect(channel.calls).toEqual([])
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('closes the storage that a failed start has opened', async () => {
    const { notifier, counts } = notifierOverStorage(({ records }) => ({
      records: { ...records, write: () => Promise.reject(new NotifierError('service_unavailable')) },
    }))
    await expect(notifier.start()).rejects.toThrow()
    await notifier.stop()
    expect(counts).toEqual({ start: 1, stop: 1 })
  })

  it('leaves no timer for a paused provider, which would keep the storage alive', async () => {
    const waiting = new Set<object>()
    const clock = fakeClock()
    const channel = recordingProvider()
    channel.behave(() => ({
      kind: 'retry',
      code: 'provider_error',
      scope: 'provider',
      retryAfterMs: 3_600_000,
    }))
    const notifier = createNotifier({
      channels: { email: channel },
      clock: {
        ...clock,
        timer(delayMs, callback) {
          const timer = { delayMs }
          waiting.add(timer)
          const cancel = clock.timer(delayMs, () => {
            waiting.delete(timer)
            callback()
          })
          return () => {
            waiting.delete(timer)
            cancel()
          }
        },
      },
    })
    await notifier.start()
    await notifier.send(mail)
    await clock.until(async () => (await notifier.health()).providers[0]?.state === 'paused')
    await notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(10_000)
    expect([...waiting]).toEqual([])
  })

  it('waits for earlier calls', async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const { notifier, counts } = notifierOverStorage((inner) => ({
      async accept(requests) {
        await gate
        expect(counts.stop).toBe(0)
        return inner.accept(requests)
      },
    }))
    await notifier.start()
    const sent = notifier.send(mail)
    await settled()
    const stopped = notifier.stop()
    await settled()
    go()
    await expect(sent).resolves.toMatchObject({ status: 'queued' })
    await stopped
    expect(counts.stop).toBe(1)
  })

  it('lets attempts end and records their outcomes', async () => {
    let answer = (): void => {}
    const channel = recordingProvider({
      send: () => new Promise((resolve) => (answer = () => resolve({ kind: 'accepted' }))),
    })
    const settlements: unknown[] = []
    const { notifier, clock, counts } = notifierOverStorage(
      (inner) => ({
        async settle(some) {
          expect(counts.stop).toBe(0)
          settlements.push(...some)
          return inner.settle(some)
        },
      }),
      channel,
    )
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop()
    await clock.advance(5_000)
    expect(settlements).toEqual([])
    answer()
    await settled()
    await stopped
    expect(settlements).toMatchObject([{ facts: [{ type: 'sent' }], next: { kind: 'end' } }])
  })

  it('does not abort an attempt that has ended', async () => {
    const channel = recordingProvider({
      send: ({ body }) => (body === 'hangs' ? new Promise(() => {}) : { kind: 'accepted' }),
    })
    const { notifier, clock } = notifierOverStorage({}, channel)
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    await notifier.send({ ...mail, body: 'hangs' })
    await clock.advance(1)
    const stopped = notifier.stop({ timeoutMs: 1 })
    await clock.advance(5_000)
    await stopped
    expect(channel.calls.map(({ context }) => context.signal.aborted)).toEqual([false, true])
  })

  it.each([
    ['until it succeeds', 3, ['email']],
    ['no longer than the deadline', Number.POSITIVE_INFINITY, []],
  ])('returns jobs that a late claim brings, and asks a failing storage %s', async (_how, away, due) => {
    const { clock, storage, start } = notifierWorld()
    let asked = 0
    const notifier = await start({
      channels: { email: recordingProvider() },
      storage: {
        ...storage,
        async claim(request) {
          const answer = await storage.claim(request)
          if (answer.jobs.length > 0) await new Promise<void>((resolve) => clock.timer(100, resolve))
          return answer
        },
        async release(refs) {
          asked += 1
          if (asked <= away) throw new NotifierError('service_unavailable')
          await storage.release(refs)
        },
      },
    })
    await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop({ timeoutMs: 5_000 })
    await clock.advance(5_000)
    await stopped
    const before = asked
    await clock.advance(20_000)
    expect(asked).toBe(before)
    const { lanes } = await storage.claim({ lanes: [], leaseMs: 1_000 })
    expect(lanes).toEqual(due)
  })

  it('claims nothing more while it waits for a call, and lets attempts end', async () => {
    let go = (): void => {}
    const gate = new Promise<never>((_resolve, reject) => (go = () => reject(new Error('late'))))
    const channel = recordingProvider({ maxConcurrent: 1 })
    const { notifier, clock, counts } = notifierOverStorage(
      { logs: { list: () => gate, count: () => gate } },
      channel,
    )
    channel.behave(() => new Promise((resolve) => clock.timer(1_000, () => resolve({ kind: 'accepted' }))))
    await notifier.start()
    await notifier.sendBatch(Array.from({ length: 20 }, () => mail))
    await clock.advance(2_500)
    const called = notifier.logs.list().catch(() => {})
    const stopped = notifier.stop()
    await clock.advance(9_000)
    expect([channel.calls.length, counts.stop]).toEqual([3, 0])
    go()
    await Promise.all([called, stopped])
    expect(channel.calls.map(({ context }) => context.signal.aborted)).toEqual([false, false, false])
  })

  it('fails no message whose provider was not asked any more', async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const retry = { kind: 'exponential', maxAttempts: 1, baseMs: 1, capMs: 1 } as const
    const { notifier, clock, channel, inner } = notifierOverStorage(
      (inner) => ({
        async startAttempts(refs) {
          await gate
          return inner.startAttempts(refs)
        },
      }),
      recordingProvider({ retry }),
    )
    await notifier.start()
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop({ timeoutMs: 1_000 })
    await clock.advance(1_000)
    go()
    await stopped
    expect(channel.calls).toEqual([])
    expect((await inner.notifications.get(id))?.status).toBe('queued')
    const { jobs } = await inner.claim({ lanes: [{ lane: 'email', free: 1 }], leaseMs: 1_000 })
    expect(jobs).toMatchObject([{ notification: { id }, recovered: false }])
  })
})
