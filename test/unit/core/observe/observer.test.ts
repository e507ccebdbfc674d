import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMeter } from '../../../../src/core/observe/meter.ts'
import type { TelemetryFact } from '../../../../src/core/observe/telemetry.ts'
import type { JobCount } from '../../../../src/core/ports/storage/job-counts.ts'
import {
  createNotifier,
  type NotifierOptions,
  type ProcessEvent,
  type Span,
  type Telemetry,
} from '../../../../src/index.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { eventually } from '../../../support/eventually.ts'
import { faultLogger } from '../../../support/fault-logger.ts'
import { inMemory } from '../../../support/in-memory.ts'

const message = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' } as const

async function start(options: Partial<NotifierOptions> = {}) {
  const notifier = createNotifier({ channels: { email: recordingProvider() }, ...options })
  await notifier.start()
  onTestFinished(() => notifier.stop())
  return notifier
}

const boom = (): never => {
  throw new Error('boom')
}

describe('a plug-in', () => {
  it.each<[string, Partial<Telemetry>]>([
    ['throws over facts', { record: boom }],
    ['throws over spans', { startSpan: boom }],
    [
      'throws in a span',
      { startSpan: (): Span => ({ trace: undefined, headers: {}, run: boom, end: boom }) },
    ],
    [
      'throws after it ran a span',
      {
        startSpan: (): Span => ({
          trace: undefined,
          headers: {},
          run(work) {
            work()
            return boom()
          },
          end: boom,
        }),
      },
    ],
    ['rejects over facts', { record: async () => boom() }],
    ['rejects over spans', { startSpan: (async () => boom()) as never }],
    [
      'rejects at the end of a span',
      {
        startSpan: (): Span => ({
          trace: undefined,
          headers: {},
          run: (work) => work(),
          end: async () => boom(),
        }),
      },
    ],
    ['throws at the stop', { stop: boom }],
    [
      'runs a span twice, and throws',
      {
        startSpan: (): Span => ({
          trace: undefined,
          headers: {},
          run(work) {
            work()
            work()
            return boom()
          },
          end() {},
        }),
      },
    ],
    [
      'runs a span too late, and throws',
      {
        startSpan: (): Span => ({
          trace: undefined,
          headers: {},
          run(work) {
            setImmediate(work)
            return boom()
          },
          end() {},
        }),
      },
    ],
  ])('that %s is reported once and harms nobody', async (_title, part) => {
    const faults: unknown[] = []
    const channel = recordingProvider()
    const notifier = createNotifier({
      channels: { email: channel },
      logger: faultLogger(faults),
      telemetry: { name: 'broken', ...part },
    })
    await notifier.start()
    const ids = [(await notifier.send(message)).id, (await notifier.send(message)).id]
    for (const id of ids) {
      await eventually(async () => (await notifier.notifications.get(id)).status === 'sent')
    }
    await notifier.stop()
    expect(channel.calls).toHaveLength(2)
    expect(faults).toHaveLength(1)
  })

  it('that cannot start keeps the notifier from starting, and may start later', async () => {
    let fails = true
    const notifier = createNotifier({
      channels: { email: recordingProvider() },
      telemetry: {
        name: 'late',
        async start() {
          if (fails) boom()
        },
      },
    })
    onTestFinished(() => notifier.stop())
    await expect(notifier.start()).rejects.toMatchObject({
      message: expect.stringContaining('start (telemetry)'),
      cause: { message: 'boom' },
    })
    fails = false
    await notifier.start()
    await notifier.send(message)
  })

  it('gets every fact, in a list of several', async () => {
    const facts: TelemetryFact[] = []
    const others = vi.fn()
    const notifier = await start({
      telemetry: [
        { name: 'one', record: (fact) => facts.push(fact) },
        { name: 'two', record: others },
      ],
    })
    const { id } = await notifier.send(message)
    await eventually(async () => (await notifier.notifications.get(id)).status === 'sent')
    const types = new Set(facts.map(({ type }) => type))
    expect([...types].sort()).toEqual(['accepted', 'attempt', 'claimed', 'published', 'stored'])
    expect(others.mock.calls.length).toBe(facts.length)
  })

  it('that traces can be only one', () => {
    const tracing = { name: 'tracing', startSpan: boom }
    const channels = { email: recordingProvider() }
    expect(() => createNotifier({ channels, telemetry: [tracing, tracing] })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', details: { option: 'telemetry' } }),
    )
  })
})

describe('metrics', () => {
  it('tell what was done and what waits, and never reject', async () => {
    const storage = inMemory()
    const notifier = await start({ storage })
    const { id } = await notifier.send(message)
    await eventually(async () => (await notifier.notifications.get(id)).status === 'sent')
    await notifier.send({ ...message, sendAt: new Date(Date.now() + 3_600_000) })
    const found = await notifier.metrics()
    expect(found.backlog).toEqual({
      lanes: [{ lane: 'email', due: 0, scheduled: 1, leased: 0, oldestDueMs: null }],
      held: 0,
      most: 10_000,
    })
    expect(found.counters.accepted).toEqual([{ labels: { channel: 'email' }, value: 2 }])
    expect(found.counters.attempts).toEqual([
      { labels: { channel: 'email', provider: 'recorder', outcome: 'accepted', code: '' }, value: 1 },
    ])
    expect(found.histograms.attemptDuration[0]?.count).toBe(1)
    const silent = await start({ storage: { ...storage, countJobs: async () => boom() } })
    expect((await silent.metrics()).backlog).toBeNull()
  })

  it('count lanes of single organizations with their channel', async () => {
    const storage = inMemory()
    const laneOf = (lane: string | null, due: number, oldestDueMs: number): JobCount[] => [
      { lane, state: 'due', jobs: due, dueAt: 100 - oldestDueMs },
      { lane, state: 'scheduled', jobs: 1, dueAt: 200 },
      { lane, state: 'running', jobs: 2, dueAt: 200 },
    ]
    const notifier = await start({
      storage: {
        ...storage,
        countJobs: async () => ({
          counts: [
            ...laneOf('email', 1, 5),
            ...laneOf('email@org_1', 2, 9),
            ...laneOf('email@org_2', 4, 7),
            ...laneOf(null, 1, 1),
          ],
          held: 3,
          now: 100,
        }),
      },
    })
    expect((await notifier.metrics()).backlog).toMatchObject({
      lanes: [
        { lane: 'email', due: 7, scheduled: 3, leased: 6, oldestDueMs: 9 },
        { lane: null, due: 1 },
      ],
      held: 3,
    })
  })

  it('keep a bounded number of series, whatever a plug-in calls itself', () => {
    const meter = createMeter()
    for (let number = 0; number < 5_000; number += 1) {
      const provider = `p-${number}`
      meter.record({
        type: 'attempt',
        channel: 'email',
        provider,
        outcome: 'accepted',
        code: null,
        durationMs: 1,
      })
    }
    expect(meter.read().counters.attempts).toHaveLength(1_000)
  })

  it('put a value into the bucket whose bound it reaches', () => {
    const meter = createMeter()
    for (const durationMs of [5, 5.1, 30_000, 30_001]) {
      meter.record({ type: 'posted', event: 'notification.sent', status: '2xx', durationMs })
    }
    const [distribution] = meter.read().histograms.postDuration
    const filled = distribution?.buckets.filter(({ count }) => count > 0)
    expect(filled).toEqual([
      { le: 0.005, count: 1 },
      { le: 0.01, count: 1 },
      { le: 30, count: 1 },
      { le: null, count: 1 },
    ])
    expect([distribution?.count, distribution?.sum]).toEqual([4, 60.0111])
  })
})

describe('listeners in this process', () => {
  it('hear of accepts and attempts, and of how an attempt failed', async () => {
    let calls = 0
    const channel = recordingProvider({
      retry: { kind: 'schedule', delaysMs: [0], jitter: 0 },
      send: () => {
        calls += 1
        return calls === 1
          ? { kind: 'retry', code: 'provider_unavailable', scope: 'message', message: 'Busy.' }
          : { kind: 'accepted' }
      },
    })
    const notifier = await start({ channels: { email: channel } })
    const heard: ProcessEvent[] = []
    for (const name of ['notification.accepted', 'attempt.started', 'attempt.failed'] as const) {
      notifier.on(name, (event: ProcessEvent) => heard.push(event))
    }
    const { id, createdAt } = await notifier.send(message)
    await eventually(async () => (await notifier.notifications.get(id)).status === 'sent')
    const about = { id, channel: 'email', to: 'ada@example.com', organizationId: 'org_default' }
    expect(heard).toEqual([
      {
        event: 'notification.accepted',
        data: { ...about, status: 'queued', timestamp: createdAt, sequence: 1 },
      },
      { event: 'attempt.started', data: { ...about, attempt: 1, provider: 'recorder' } },
      {
        event: 'attempt.failed',
        data: {
          ...about,
          attempt: 1,
          provider: 'recorder',
          error: { code: 'provider_unavailable', message: 'Busy.' },
          ambiguous: false,
          nextAttemptInMs: 0,
        },
      },
      { event: 'attempt.started', data: { ...about, attempt: 2, provider: 'recorder' } },
    ])
  })

  it('hear of each item of a batch, of scheduled ones as such, and of no validation', async () => {
    const notifier = await start()
    const heard: string[] = []
    notifier.on('notification.accepted', ({ data }) => void heard.push(data.status))
    await notifier.validate(message)
    const sendAt = new Date(Date.now() + 3_600_000)
    await notifier.sendBatch([message, { ...message, to: 'nobody' }, { ...message, sendAt }])
    expect(heard).toEqual(['queued', 'scheduled'])
  })
})

it('listeners hear of a notification in its own trace, also where many are recorded together', async () => {
  const current = new AsyncLocalStorage<object>()
  const own = new Map<string, object>()
  const heard: [id: string, trace: object | undefined][] = []
  const telemetry: Telemetry = {
    name: 'traces',
    startSpan(started) {
      const notificationId = started.name === 'attempt' ? started.notificationId : undefined
      if (notificationId !== undefined) own.set(notificationId, current.getStore() ?? {})
      const trace = started.name === 'deliver' ? {} : (current.getStore() ?? {})
      return { trace: undefined, headers: {}, run: (work) => current.run(trace, work), end() {} }
    },
  }
  const email = recordingProvider({
    send: async () => ({ kind: 'rejected', code: 'invalid_content', scope: 'message' }),
  })
  const notifier = await start({ channels: { email }, telemetry: [telemetry] })
  for (const event of ['attempt.started', 'attempt.failed', 'notification.failed'] as const)
    notifier.on(event, ({ data }: { data: { id: string } }) => void heard.push([data.id, current.getStore()]))
  await notifier.sendBatch(Array.from({ length: 20 }, () => message))
  await eventually(() => heard.length === 60)
  // What is heard before the attempt has a span is of the same job.
  for (const [id, trace] of heard) expect(trace).toBe(own.get(id))
})
