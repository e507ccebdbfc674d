import { describe, expect, it } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import type { Telemetry } from '../../../src/ports/telemetry.ts'
import { fakeClock, settled } from '../../../src/testing/fake-clock.ts'
import { type Behaviour, recordingProvider } from '../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

function create(
  change: Partial<Storage> = {},
  channel = recordingProvider(),
  telemetry: readonly Telemetry[] = [],
) {
  const clock = fakeClock()
  const counts = { start: 0, stop: 0 }
  const inner = memoryStorage({ clock })
  const storage: Storage = {
    ...inner,
    async start() {
      counts.start += 1
    },
    async stop() {
      counts.stop += 1
    },
    ...change,
  }
  return {
    clock,
    counts,
    channel,
    notifier: createNotifier({ channels: { email: channel }, storage, clock, telemetry }),
  }
}

describe('start', () => {
  it('opens once, however often it is called', async () => {
    const { notifier, counts } = create()
    await Promise.all([notifier.start(), notifier.start()])
    await notifier.start()
    expect(counts.start).toBe(1)
    await notifier.stop()
  })

  it('is what every method waits for', async () => {
    const { notifier } = create()
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

  it('can be repeated when it failed', async () => {
    let down = true
    const { notifier } = create({
      async putIfAbsent(_name, initial) {
        if (down) throw new NotifierError('service_unavailable')
        return initial
      },
    })
    await expect(notifier.start()).rejects.toMatchObject({ code: 'service_unavailable' })
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'not_started' })
    down = false
    await notifier.start()
    await notifier.send(mail)
    await notifier.stop()
  })

  it('is refused after a stop', async () => {
    const { notifier } = create()
    await notifier.start()
    await notifier.stop()
    await expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
  })

  it('without delivery only accepts', async () => {
    const { notifier, clock, channel } = create()
    await notifier.start({ deliver: false })
    const { id } = await notifier.send(mail)
    await clock.advance(60_000)
    expect(channel.calls).toEqual([])
    expect((await notifier.notifications.get(id)).status).toBe('queued')
    await notifier.stop()
  })
})

describe('stop', () => {
  it('closes once, however often it is called', async () => {
    let closed = 0
    const close = () => {
      closed += 1
    }
    const { notifier, counts } = create({}, recordingProvider({ close }))
    await notifier.start()
    await Promise.all([notifier.stop(), notifier.stop(), notifier[Symbol.asyncDispose]()])
    expect([counts.stop, closed]).toEqual([1, 1])
  })

  it('has one deadline for calls, attempts and channels together', async () => {
    const never = (): Promise<never> => new Promise(() => {})
    const { notifier, clock, counts } = create({ accept: never }, recordingProvider({ close: never }))
    await notifier.start()
    notifier.send(mail).catch(() => {})
    await settled()
    const began = clock.monotonic()
    let stoppedAfter = 0
    const stopping = notifier.stop({ deadlineMs: 10_000 }).then(() => {
      stoppedAfter = clock.monotonic() - began
    })
    await clock.advance(60_000)
    await stopping
    expect(counts.stop).toBe(1)
    // A second is added in which channels may close.
    expect(stoppedAfter).toBeGreaterThanOrEqual(10_000)
    expect(stoppedAfter).toBeLessThanOrEqual(11_000)
  })

  it('before any start opens nothing', async () => {
    const { notifier, counts } = create()
    await notifier.stop()
    expect(counts).toEqual({ start: 0, stop: 0 })
    await expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
  })

  it('during a start waits for it and delivers nothing', async () => {
    let open = (): void => {}
    const { notifier, counts, channel } = create({ start: () => new Promise((resolve) => (open = resolve)) })
    const started = notifier.start()
    const stopped = notifier.stop()
    await settled()
    open()
    await Promise.all([started, stopped])
    expect(counts.stop).toBe(1)
    expect(channel.calls).toEqual([])
    await expect(notifier.send(mail)).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  describe('during a start that does not answer', () => {
    function hanging(change: Partial<Storage> = {}, telemetry: Telemetry[] = []) {
      let answer = (): void => {}
      const slow = (): Promise<void> => new Promise((resolve) => (answer = resolve))
      const world = create({ start: slow, ...change }, recordingProvider(), telemetry)
      const started = world.notifier.start().then(
        () => 'resolved',
        (error: unknown) => error,
      )
      return { ...world, slow, started, answer: () => answer() }
    }
    const refused = {
      name: 'NotifierError',
      code: 'not_started',
      message: expect.stringContaining('stopped while it started'),
    }

    it('ends by its deadline, and so does the start', async () => {
      const { notifier, clock, counts, started } = hanging()
      const stopped = notifier.stop({ deadlineMs: 3_000 })
      await clock.advance(2_999)
      expect(counts.stop).toBe(0)
      await clock.advance(1)
      await stopped
      expect(await started).toMatchObject(refused)
      expect(counts.stop).toBe(1)
      await expect(notifier.start()).rejects.toMatchObject({ code: 'not_started' })
    })

    it('is hurried by a second one', async () => {
      const { notifier, clock, started } = hanging()
      const stopped = notifier.stop({ deadlineMs: 600_000 })
      await clock.advance(1)
      void notifier.stop({ deadlineMs: 1_000 })
      await clock.advance(1_000)
      await stopped
      expect(await started).toMatchObject(refused)
    })

    it('has a storage that answers later closed again, with nothing asked of it', async () => {
      const asked: string[] = []
      const inner = memoryStorage()
      const { notifier, clock, channel, started, answer } = hanging({
        async putIfAbsent(_name, initial) {
          asked.push('keep')
          return initial
        },
        claim(request) {
          asked.push('claim')
          return inner.claim(request)
        },
        async stop() {
          asked.push('stop')
        },
      })
      const stopped = notifier.stop({ deadlineMs: 1_000 })
      await clock.advance(1_000)
      await stopped
      await started
      answer()
      await clock.advance(60_000)
      expect(asked).toEqual(['stop', 'stop'])
      expect(channel.calls).toEqual([])
    })

    it('does not wait for a storage that closes only when it has opened', async () => {
      const told: unknown[] = []
      const events: string[] = []
      let opened: Promise<void> | undefined
      let answer = (): void => {}
      const { notifier, clock, started } = hanging({
        start: () => (opened = new Promise((resolve) => (answer = resolve))),
        async stop() {
          await opened
          events.push('closed')
        },
      })
      notifier.on('error', (error) => told.push(error))
      const stopped = notifier.stop({ deadlineMs: 1_000 })
      // A second is added in which it may close.
      await clock.advance(2_000)
      await stopped
      expect(await started).toMatchObject(refused)
      expect(events).toEqual([])
      answer()
      await settled()
      expect([events, told]).toEqual([['closed', 'closed'], []])
    })

    it.each<[string, boolean]>([
      ['opens nothing more', false],
      ['closes what was opened before', true],
    ])('where it is not the storage that hangs, %s', async (_name, last) => {
      let answer = (): void => {}
      const slow = <Value>(value: Value): Promise<Value> =>
        new Promise((resolve) => (answer = () => resolve(value)))
      const events: string[] = []
      const { notifier, clock, started } = hanging(
        {
          async start() {
            events.push('start')
          },
          async stop() {
            events.push('stop')
          },
          ...(last ? { putIfAbsent: (_name: string, initial: string) => slow(initial) } : {}),
        },
        last ? [] : [{ name: 'slow', start: () => slow(undefined), stop: () => void events.push('plug-in') }],
      )
      const stopped = notifier.stop({ deadlineMs: 1_000 })
      await clock.advance(1_000)
      await stopped
      expect(await started).toMatchObject(refused)
      answer()
      await settled()
      expect(events).toEqual(last ? ['start', 'stop', 'stop'] : ['stop', 'stop', 'plug-in'])
    })

    it('tells of a storage that answers later and cannot be closed', async () => {
      const told: unknown[] = []
      const fault = new Error('stuck')
      let stops = 0
      const { notifier, clock, started, answer } = hanging({
        async stop() {
          stops += 1
          if (stops > 1) throw fault
        },
      })
      notifier.on('error', (error) => told.push(error))
      const stopped = notifier.stop({ deadlineMs: 1_000 })
      await clock.advance(1_000)
      await stopped
      await started
      answer()
      await settled()
      expect(told).toEqual([fault])
    })
  })

  it('closes what a start had opened before it failed', async () => {
    const { notifier, counts } = create({
      putIfAbsent: () => Promise.reject(new NotifierError('service_unavailable')),
    })
    await expect(notifier.start()).rejects.toThrow()
    await notifier.stop()
    expect(counts).toEqual({ start: 1, stop: 1 })
  })

  it('leaves no timer for a provider that rests, which would keep all that was stored in memory', async () => {
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
    await notifier.stop({ deadlineMs: 1_000 })
    await clock.advance(10_000)
    expect([...waiting]).toEqual([])
  })

  it('waits for calls that were taken before it', async () => {
    const inner = memoryStorage()
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const { notifier, counts } = create({
      async accept(requests) {
        await gate
        expect(counts.stop).toBe(0)
        return inner.accept(requests)
      },
    })
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

  it('lets running attempts end, and what they did is recorded', async () => {
    let answer = (): void => {}
    const channel = recordingProvider({
      send: () => new Promise((resolve) => (answer = () => resolve({ kind: 'accepted' }))),
    })
    const settlements: unknown[] = []
    const inner = memoryStorage()
    const { notifier, clock, counts } = create(
      {
        accept: inner.accept,
        claim: inner.claim,
        startAttempts: inner.startAttempts,
        async settle(some) {
          expect(counts.stop).toBe(0)
          settlements.push(...some)
          return inner.settle(some)
        },
      },
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

  it('aborts what runs on past the deadline, and records that too', async () => {
    const channel = recordingProvider({
      send: (_message, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'ambiguous', reason: 'aborted' })),
        ),
    })
    const { notifier, clock, counts } = create({}, channel)
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop({ deadlineMs: 3_000 })
    await clock.advance(2_999)
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([false, 0])
    await clock.advance(1)
    await stopped
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([true, 1])
  })

  it('aborts nothing that has ended, whoever still has its signal', async () => {
    const channel = recordingProvider({
      send: ({ body }) => (body === 'hangs' ? new Promise(() => {}) : { kind: 'accepted' }),
    })
    const { notifier, clock } = create({}, channel)
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    await notifier.send({ ...mail, body: 'hangs' })
    await clock.advance(1)
    const stopped = notifier.stop({ deadlineMs: 1 })
    await clock.advance(5_000)
    await stopped
    expect(channel.calls.map(({ context }) => context.signal.aborted)).toEqual([false, true])
  })

  it('lets nothing begin after its deadline that was claimed before', async () => {
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
    const stopped = notifier.stop({ deadlineMs: 1 })
    await clock.advance(5_000)
    await stopped
    expect(channels.flatMap(({ calls }) => calls)).toEqual([])
    expect((await storage.notifications.timeline(id)).at(-1)?.fact?.message).toMatch(/was not asked/)
  })

  it.each([
    ['again until it does', 3, ['email']],
    ['no longer than the deadline', Number.POSITIVE_INFINITY, []],
  ])(
    'returns a claim that is answered after it; a storage that does not answer is asked %s',
    async (_how, away, due) => {
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
      const stopped = notifier.stop({ deadlineMs: 5_000 })
      await clock.advance(5_000)
      await stopped
      const before = asked
      await clock.advance(20_000)
      expect(asked).toBe(before)
      const { lanes } = await storage.claim({ lanes: [], leaseMs: 1_000 })
      expect(lanes).toEqual(due)
    },
  )

  it('is hurried by a second one', async () => {
    const channel = recordingProvider({
      send: (_message, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'ambiguous', reason: 'aborted' })),
        ),
    })
    const { notifier, clock, counts } = create({}, channel)
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop()
    await clock.advance(2_000)
    void notifier.stop()
    await clock.advance(0)
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([false, 0])
    void notifier.stop({ deadlineMs: 1 })
    await clock.advance(1)
    await stopped
    expect([channel.calls[0]?.context.signal.aborted, counts.stop]).toEqual([true, 1])
  })

  it('claims nothing more while a call is waited for, and what runs may end meanwhile', async () => {
    let go = (): void => {}
    const gate = new Promise<never>((_resolve, reject) => (go = () => reject(new Error('late'))))
    const channel = recordingProvider({ maxConcurrent: 1 })
    const { notifier, clock, counts } = create({ logs: { list: () => gate } }, channel)
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

  it('ends no message as failed that its provider was not asked for any more', async () => {
    const inner = memoryStorage()
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const retry = { kind: 'exponential', maxAttempts: 1, baseMs: 1, capMs: 1 } as const
    const { notifier, clock, channel } = create(
      {
        ...inner,
        async startAttempts(refs) {
          await gate
          return inner.startAttempts(refs)
        },
      },
      recordingProvider({ retry }),
    )
    await notifier.start()
    const { id } = await notifier.send(mail)
    await clock.advance(1)
    const stopped = notifier.stop({ deadlineMs: 1_000 })
    await clock.advance(1_000)
    go()
    await stopped
    expect(channel.calls).toEqual([])
    expect((await inner.notifications.get(id))?.status).toBe('queued')
    const { jobs } = await inner.claim({ lanes: [{ lane: 'email', free: 1 }], leaseMs: 1_000 })
    expect(jobs).toMatchObject([{ notification: { id }, recovered: false }])
  })

  const never = (): Promise<never> => new Promise(() => {})
  it.each<[string, Partial<Storage>, () => void | Promise<void>]>([
    ['a call that hangs', { logs: { list: never } }, () => {}],
    ['a claim that hangs', { claim: never }, () => {}],
    ['an outcome that cannot be stored', { settle: never }, () => {}],
    ['a channel that does not close', {}, never],
  ])('is hurried by a second one past %s', async (_name, change, close) => {
    const { notifier, clock, counts } = create(change, recordingProvider({ close }))
    await notifier.start()
    await notifier.send(mail)
    await clock.advance(1)
    void notifier.logs.list().catch(() => {})
    const stopped = notifier.stop({ deadlineMs: 600_000 })
    await clock.advance(2_000)
    expect(counts.stop).toBe(0)
    void notifier.stop({ deadlineMs: 1_000 })
    // Aborted attempts have three seconds to report, and channels one to close.
    await clock.advance(5_000)
    expect(counts.stop).toBe(1)
    await stopped
  })

  it.each<[string, Partial<Storage>, Telemetry[]]>([
    ['telemetry', {}, [{ name: 'otel', stop: never }]],
    ['storage', { stop: never }, []],
  ])(
    'ends by its deadline, and tells of it, where the %s does not close',
    async (what, change, telemetry) => {
      const closed: string[] = []
      const plugin = { name: 'other', stop: () => void closed.push('other') }
      const { notifier, clock } = create(change, recordingProvider(), [...telemetry, plugin])
      const told: unknown[] = []
      notifier.on('error', (error) => told.push(error))
      await notifier.start()
      let stoppedAfter = 0
      const stopping = notifier.stop({ deadlineMs: 3_000 }).then(() => {
        stoppedAfter = clock.monotonic()
      })
      await clock.advance(60_000)
      await stopping
      expect(stoppedAfter).toBe(3_000)
      expect(closed).toEqual(['other'])
      expect(told).toMatchObject([
        {
          code: 'service_unavailable',
          message: `The ${what} did not close before the deadline of the stop, which ended without it.`,
        },
      ])
    },
  )

  it('waits for a storage that is only slow to close', async () => {
    let events = ''
    const stop = (): Promise<void> =>
      new Promise((resolve) => {
        clock.timer(9_000, () => {
          events += 'closed '
          resolve()
        })
      })
    const { notifier, clock } = create({ stop })
    await notifier.start()
    const stopping = notifier.stop().then(() => {
      events += 'stopped'
    })
    await clock.advance(10_000)
    await stopping
    expect(events).toBe('closed stopped')
  })

  it('is not put off by a second one with a later deadline', async () => {
    const { notifier, clock, counts } = create({ logs: { list: never } })
    await notifier.start()
    void notifier.logs.list().catch(() => {})
    const stopped = notifier.stop({ deadlineMs: 3_000 })
    void notifier.stop({ deadlineMs: 600_000 })
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
  ])('closes the storage also when the close of a channel %s', async (_name, close) => {
    const { notifier, clock, counts } = create({}, recordingProvider({ close }))
    await notifier.start()
    const stopped = notifier.stop({ deadlineMs: 1_000 })
    await clock.advance(1_000)
    await stopped
    expect(counts.stop).toBe(1)
  })
})
