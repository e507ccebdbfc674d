import { Registry } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import { prometheusMetrics } from '../../adapters/telemetry/prometheus.ts'
import { GAUGES, METRICS } from '../../src/core/observe/metric-definitions.ts'
import { createNotifier, type Notifier, type NotifierOptions } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { inMemory } from '../support/in-memory.ts'
import { httpReceiver } from '../support/receivers.ts'

const message = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' } as const
const LINE = /^([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)*)\})? (\S+)$/

interface Exposition {
  readonly help: ReadonlyMap<string, string>
  readonly types: ReadonlyMap<string, string>
  readonly samples: ReadonlyMap<string, number>
}

/** Reads the text format 0.0.4, and refuses what is none. */
function parse(text: string): Exposition {
  const help = new Map<string, string>()
  const types = new Map<string, string>()
  const samples = new Map<string, number>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, comment, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (comment === 'HELP') help.set(name, rest)
    else if (comment === 'TYPE') types.set(name, rest)
    else {
      const [, sample = '', labels = '', value = ''] = LINE.exec(line) ?? expect.fail(`no sample: ${line}`)
      expect(Number.isNaN(Number(value.replace('Inf', 'Infinity'))), line).toBe(false)
      samples.set(`${sample}{${labels.split(',').sort().join(',')}}`, Number(value))
    }
  }
  return { help, types, samples }
}

async function start(options: Partial<NotifierOptions> = {}) {
  const register = new Registry()
  const notifier = createNotifier({
    storage: inMemory(),
    channels: { email: recordingProvider() },
    telemetry: prometheusMetrics({ register }),
    ...options,
  })
  await notifier.start()
  onTestFinished(() => notifier.stop())
  return { notifier, register, read: async () => parse(await register.metrics()) }
}

async function settled(notifier: Notifier, id: string): Promise<void> {
  await eventually(async () => (await notifier.notifications.get(id)).status !== 'queued')
}

it('counts what happens, under the names and in the units of the conventions', async () => {
  const receiver = await httpReceiver((response) => response.writeHead(500).end())
  onTestFinished(() => receiver.close())
  const channel = recordingProvider({
    send: ({ to }) =>
      to.startsWith('bad')
        ? { kind: 'rejected', code: 'spam_detected', scope: 'message' }
        : { kind: 'accepted', providerMessageId: '1' },
  })
  const { notifier, read } = await start({
    channels: { email: channel },
    webhooks: { allow: ['127.0.0.0/8'], allowHttp: true },
  })
  await notifier.webhooks.create({
    url: `http://127.0.0.1:${receiver.port}/`,
    events: ['notification.sent'],
  })
  await settled(notifier, (await notifier.send(message)).id)
  await settled(notifier, (await notifier.send({ ...message, to: 'bad@example.com' })).id)
  await notifier.sendBatch([
    { ...message, to: 'nobody' },
    { ...message, sendAt: new Date(Date.now() + 3_600_000) },
  ])
  await expect(notifier.send({ ...message, to: 'nobody' })).rejects.toThrow()
  const { samples } = await eventually(async () => {
    const found = await read()
    return found.samples.get('carillon_backlog_jobs{lane="events",state="scheduled"}') === 1
      ? found
      : undefined
  })
  const expected: Record<string, number> = {
    'carillon_notifications_accepted_total{channel="email"}': 3,
    'carillon_notifications_refused_total{code="invalid_email",operation="send"}': 1,
    'carillon_notifications_refused_total{code="invalid_email",operation="sendBatch"}': 1,
    'carillon_attempts_total{channel="email",code="",outcome="accepted",provider="recorder"}': 1,
    'carillon_attempts_total{channel="email",code="spam_detected",outcome="rejected",provider="recorder"}': 1,
    'carillon_attempt_duration_seconds_count{channel="email",provider="recorder"}': 2,
    'carillon_wait_seconds_count{lane="email"}': 2,
    'carillon_wait_seconds_count{lane="events"}': 1,
    'carillon_events_total{event="notification.sent"}': 1,
    'carillon_events_total{event="notification.failed"}': 1,
    'carillon_webhook_posts_total{event="notification.sent",status="5xx"}': 1,
    'carillon_backlog_jobs{lane="email",state="scheduled"}': 1,
    'carillon_backlog_jobs{lane="email",state="due"}': 0,
    'carillon_backlog_oldest_due_seconds{lane="email"}': 0,
    'carillon_backlog_held{}': 0,
    'carillon_leases_lost_total{}': 0,
    'carillon_storage_answers{}': 1,
    'carillon_provider_running{channel="email",provider="recorder"}': 0,
    'carillon_provider_paused{channel="email",organization="",provider="recorder"}': 0,
  }
  for (const [sample, value] of Object.entries(expected))
    expect([sample, samples.get(sample)]).toEqual([sample, value])
  expect(
    samples.get('carillon_attempt_duration_seconds_sum{channel="email",provider="recorder"}'),
  ).toBeLessThan(30)
  const commits = 'carillon_commit_items_bucket{le="+Inf",verb="accept"}'
  expect(samples.get(commits)).toBe(samples.get('carillon_commit_items_count{verb="accept"}'))
})

it('names, explains and types every metric, and labels none with a recipient, an id or an organization', async () => {
  const { notifier, read, register } = await start()
  await settled(notifier, (await notifier.send(message)).id)
  const { help, types } = await read()
  for (const { name, kind, help: text } of Object.values(METRICS)) {
    expect([name, types.get(name), help.get(name)]).toEqual([name, kind, text])
    expect(name).toMatch(
      kind === 'counter' ? /^carillon_[a-z_]+_total$/ : /^carillon_[a-z_]+_(seconds|items)$/,
    )
  }
  for (const { name } of Object.values(GAUGES)) {
    expect(types.get(name)).toBe('gauge')
    expect(name).not.toMatch(/_total$/)
  }
  expect(await register.metrics()).not.toMatch(/ada@|notif_|org_|wh_/)
})

it('stays readable while the storage does not answer, and says so', async () => {
  const storage = inMemory()
  const { read } = await start({
    storage: { ...storage, countJobs: () => Promise.reject(new Error('gone')) },
  })
  const { samples } = await read()
  expect(samples.get('carillon_storage_answers{}')).toBe(0)
  expect([...samples.keys()].filter((sample) => sample.startsWith('carillon_backlog'))).toEqual([])
})

it('tells how much waits, and for how long, in seconds', async () => {
  const { read } = await start({
    storage: {
      ...inMemory(),
      countJobs: async () => ({
        counts: [
          { lane: 'email', state: 'due', jobs: 3, dueAt: 98_500 },
          { lane: 'email', state: 'retrying', jobs: 1, dueAt: 100_500 },
          { lane: 'email', state: 'running', jobs: 2, dueAt: 100_500 },
          { lane: null, state: 'due', jobs: 7, dueAt: 10_000 },
        ],
        held: 4,
        now: 100_000,
      }),
    },
  })
  const { samples } = await read()
  const expected = {
    'carillon_backlog_jobs{lane="email",state="due"}': 3,
    'carillon_backlog_jobs{lane="email",state="scheduled"}': 1,
    'carillon_backlog_jobs{lane="email",state="leased"}': 2,
    'carillon_backlog_jobs{lane="events",state="due"}': 7,
    'carillon_backlog_oldest_due_seconds{lane="email"}': 1.5,
    'carillon_backlog_oldest_due_seconds{lane="events"}': 90,
    'carillon_backlog_held{}': 4,
  }
  for (const [sample, value] of Object.entries(expected))
    expect([sample, samples.get(sample)]).toEqual([sample, value])
})

it('asks the storage once for all gauges', async () => {
  const storage = inMemory()
  let asked = 0
  const { read } = await start({
    storage: {
      ...storage,
      async countJobs(of, most) {
        asked += 1
        return storage.countJobs(of, most)
      },
    },
  })
  await read()
  expect(asked).toBe(1)
})

it('needs a registry without metrics of another notifier, and leaves it at the stop', async () => {
  const { notifier, register } = await start()
  const second = createNotifier({
    channels: { email: recordingProvider() },
    telemetry: prometheusMetrics({ register }),
  })
  await expect(second.start()).rejects.toMatchObject({ code: 'invalid_configuration' })
  await second.stop()
  await notifier.stop()
  expect(register.getMetricsAsArray()).toEqual([])
})
