import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AnyFeature } from '../../src/core/feature.ts'
import { type Asked, GO, type Judge, type Verdict } from '../../src/core/gate/verdict.ts'
import { systemClock } from '../../src/core/loop/system-clock.ts'
import { suppressionError } from '../../src/core/notification/suppression.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { runProgram } from '../support/program.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import type { DelayedProgram } from './programs/delayed.ts'

type Says = (asked: Asked) => Verdict
const { first, second, asked } = vi.hoisted(() => {
  const go = (): Verdict => ({ kind: 'go' })
  return { first: { says: go as Says }, second: { says: go as Says }, asked: vi.fn<Judge>() }
})

/** Two features that judge as the test says. */
vi.mock('../../src/features/index.ts', async (original) => {
  const { FEATURES } = await original<{ readonly FEATURES: readonly AnyFeature[] }>()
  const judging = (name: string, given: { says: Says }): AnyFeature => {
    const judge: Judge = (messages, context) => {
      asked(messages, context)
      return messages.map((message) => given.says(message))
    }
    return { name, create: () => ({ api: {}, judge }) }
  }
  return { FEATURES: [...FEATURES, judging('first', first), judging('second', second)] }
})

const HOUR = 3_600_000
const DAY = 24 * HOUR
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const REFUSE: Verdict = { kind: 'refuse', error: suppressionError('manual') }
const SKIP: Verdict = { kind: 'skip', decidedBy: 'test', message: 'Not wanted.' }
const waitUntil = (until: number, reason = 'It is night.'): Verdict => ({ kind: 'wait', until, reason })

interface World {
  readonly location: StorageLocation
  readonly storage: Storage
  readonly notifier: Notifier
  readonly email: ReturnType<typeof recordingProvider>
  now(): number
  /** Sets all clocks forward. */
  pass(ms: number): void
  waiting(id: string): Promise<unknown>
  /** Resolves when the message waits because of the gate. */
  delayed(id: string): Promise<unknown>
  ended(id: string): Promise<string>
  history(id: string): Promise<readonly string[]>
}

async function open(
  location: StorageLocation,
  { deliver = true, offMs = 0 }: { readonly deliver?: boolean; readonly offMs?: number } = {},
): Promise<World> {
  first.says = () => GO
  second.says = () => GO
  asked.mockReset()
  let off = offMs
  const system = systemClock()
  const now = () => system.now() + off
  const storage = openStorage(location, () => off)
  const email = recordingProvider({ retry: { kind: 'schedule', delaysMs: [HOUR], jitter: 0 } })
  const notifier = createNotifier({
    channels: { email, push: recordingProvider() } as never,
    storage,
    clock: { ...system, now },
    delivery: { pollMs: 20 },
    recipients: {
      resolve: (ids) => new Map(ids.map((id) => [id, { channels: { push: [`${id}-1`, `${id}-2`] } }])),
    },
  }) as unknown as Notifier
  onTestFinished(() => notifier.stop())
  await notifier.start({ deliver })
  const waiting = async (id: string) => (await notifier.notifications.get(id)).waiting
  return {
    location,
    storage,
    notifier,
    email,
    now,
    pass(ms) {
      off += ms
    },
    waiting,
    delayed: (id) => eventually(async () => (await waiting(id))?.reason === 'delayed'),
    ended: (id) =>
      eventually(async () => {
        const { status } = await notifier.notifications.get(id)
        return status === 'queued' || status === 'scheduled' ? null : status
      }),
    async history(id) {
      const { timeline } = await notifier.notifications.get(id)
      return timeline.map(({ event, error }) => (error === null ? event : `${event}: ${error.code}`))
    },
  }
}

/** Sends in a transaction of the caller, in which `work` may do more before. */
async function inTransaction<Answer>(
  { location }: World,
  work: (tx: never, client: pg.Client | null) => Promise<Answer>,
): Promise<Answer> {
  if ('sqlite' in location) return work((() => {}) as never, null)
  const client = new pg.Client({ connectionString: location.postgres.url })
  await client.connect()
  try {
    await client.query('BEGIN')
    const answer = await work(client as never, client)
    await client.query('COMMIT')
    return answer
  } finally {
    await client.end()
  }
}

/** The ways in which one message is accepted; each answers the id of a notification. */
const WAYS: Readonly<Record<string, (world: World) => Promise<string>>> = {
  'a send': async ({ notifier }) => (await notifier.send(mail)).id,
  'a batch': async ({ notifier }) => {
    const { items } = await notifier.sendBatch([mail])
    return (items[0] as { readonly id: string }).id
  },
  async 'a resend'(world) {
    const says = first.says
    first.says = () => GO
    const { id } = await world.notifier.send(mail)
    await world.ended(id)
    world.email.clear()
    first.says = says
    return (await world.notifier.notifications.resend(id)).id
  },
  'a send in a transaction of the caller': (world) =>
    inTransaction(world, async (tx) => (await world.notifier.send(mail, { tx })).id),
  'a batch in a transaction of the caller': (world) =>
    inTransaction(world, async (tx) => {
      const { items } = await world.notifier.sendBatch([mail], { tx })
      return (items[0] as { readonly id: string }).id
    }),
}

describeEachWith(STORAGES, whyNoStorage, 'the gate on %s', (name, location) => {
  describe.each(Object.entries(WAYS))('%s', (_way, accept) => {
    it('that must wait is due then, and sent once', async () => {
      const world = await open(await location())
      const until = world.now() + DAY
      // Judges compute with fractions.
      first.says = () => waitUntil(until - 0.5)
      const id = await accept(world)
      const { counts } = await world.storage.countJobs({ notificationId: id }, 10)
      expect(counts).toMatchObject([{ state: 'scheduled', dueAt: until }])
      expect(await world.notifier.notifications.get(id)).toMatchObject({
        status: 'queued',
        waiting: { reason: 'delayed', until: new Date(until).toISOString(), message: 'It is night.' },
        timeline: [{ event: 'queued' }],
      })
      expect(world.email.calls).toEqual([])
      world.pass(DAY)
      expect(await world.ended(id)).toBe('sent')
      expect(world.email.calls.map(({ context }) => context.attempt)).toEqual([1])
    })

    it('whose time to wait is past goes at once', async () => {
      const world = await open(await location())
      first.says = () => waitUntil(world.now() - 1)
      const id = await accept(world)
      expect(await world.ended(id)).toBe('sent')
      expect(await world.history(id)).toEqual(['queued', 'sent'])
    })
  })

  it('lets one wait before an attempt, as often as it says so, and records why', async () => {
    const world = await open(await location())
    const sendAt = new Date(world.now() + HOUR)
    const { id } = await world.notifier.send({ ...mail, sendAt })
    for (const reason of ['First night.', 'Second night.']) {
      world.pass(DAY)
      first.says = () => waitUntil(world.now() + DAY, reason)
      await eventually(
        async () => (await world.notifier.notifications.get(id)).timeline.at(-1)?.message === reason,
      )
      expect(await world.waiting(id)).toMatchObject({ reason: 'delayed', code: null, message: reason })
    }
    first.says = () => GO
    world.pass(DAY)
    expect(await world.ended(id)).toBe('sent')
    expect(await world.history(id)).toEqual(['scheduled', 'delayed', 'delayed', 'sent'])
    expect(world.email.calls.map(({ context }) => context.attempt)).toEqual([1])
  })

  it('lets one wait before another attempt', async () => {
    const world = await open(await location())
    world.email.behave(() => ({ kind: 'retry', code: 'provider_error', scope: 'message' }))
    const { id } = await world.notifier.send(mail)
    await eventually(async () => (await world.waiting(id)) !== null && (await world.history(id)).length === 2)
    first.says = () => waitUntil(world.now() + DAY)
    world.pass(HOUR)
    await world.delayed(id)
    expect(await world.notifier.notifications.get(id)).toMatchObject({
      status: 'queued',
      error: { code: 'provider_error' },
    })
    world.email.behave(() => ({ kind: 'accepted', providerMessageId: 'm' }))
    first.says = () => GO
    world.pass(DAY)
    expect(await world.ended(id)).toBe('sent')
    expect(world.email.calls.map(({ context }) => context.attempt)).toEqual([1, 2])
  })

  it.each(['at the accept', 'before an attempt'])('ends what expires before its time: %s', async (when) => {
    const world = await open(await location())
    const early = when === 'at the accept'
    const wait = () => waitUntil(world.now() + 10 * DAY)
    const [sendAt, expiresAt] = [new Date(world.now() + HOUR), new Date(world.now() + DAY)]
    if (early) first.says = wait
    const { id } = await world.notifier.send({ ...mail, expiresAt, ...(early ? {} : { sendAt }) })
    first.says = wait
    world.pass(2 * HOUR)
    await world.delayed(id)
    world.pass(DAY)
    expect(await world.ended(id)).toBe('failed')
    expect((await world.history(id)).at(-1)).toBe('failed: expired')
    expect(world.email.calls).toEqual([])
  })

  it.each(['at the accept', 'before an attempt'])('leaves what waits to be cancelled: %s', async (when) => {
    const world = await open(await location())
    const early = when === 'at the accept'
    const sendAt = new Date(world.now() + HOUR)
    if (early) first.says = () => waitUntil(world.now() + DAY)
    const { id } = await world.notifier.send({ ...mail, ...(early ? {} : { sendAt }) })
    first.says = () => waitUntil(world.now() + DAY)
    if (!early) world.pass(HOUR)
    await world.delayed(id)
    expect((await world.notifier.notifications.cancel(id)).status).toBe('cancelled')
    expect((await world.storage.countJobs({ notificationId: id }, 10)).counts).toEqual([])
  })

  it('lets one address of a group wait while the other is sent', async () => {
    const world = await open(await location())
    const until = world.now() + DAY
    first.says = ({ to }) => (to === 'ada-2' ? waitUntil(until) : GO)
    const push = { channel: 'push', recipient: 'ada', subject: 'Hi', body: 'Hello' } as const
    const { ids = [] } = await world.notifier.send(push)
    const [now = '', later = ''] = ids
    expect(await world.ended(now)).toBe('sent')
    expect(await world.waiting(later)).toMatchObject({
      reason: 'delayed',
      until: new Date(until).toISOString(),
    })
    world.pass(DAY)
    expect(await world.ended(later)).toBe('sent')
  })

  it('fails one address of a group that is refused beside another', async () => {
    const world = await open(await location())
    first.says = ({ to }) => (to === 'ada-1' ? REFUSE : GO)
    const push = { channel: 'push', recipient: 'ada', subject: 'Hi', body: 'Hello' } as const
    const { ids = [] } = await world.notifier.send(push)
    expect(await Promise.all(ids.map(world.ended))).toEqual(['failed', 'sent'])
    first.says = () => REFUSE
    await expect(world.notifier.send(push)).rejects.toMatchObject({ code: 'blocked_recipient' })
  })

  it('leaves a refused copy out, and sends one that must wait', async () => {
    const world = await open(await location())
    first.says = ({ to, copy }) => {
      if (!copy) return GO
      return to.startsWith('cc') ? REFUSE : waitUntil(world.now() + DAY)
    }
    const { id } = await world.notifier.send({
      ...mail,
      email: { cc: ['cc@example.com', 'bob@example.com'] },
    } as never)
    expect(await world.ended(id)).toBe('sent')
    expect(world.email.messages[0]).toMatchObject({ email: { cc: [{ address: 'bob@example.com' }] } })
    expect(await world.history(id)).toEqual(['queued', 'sent', 'reported: blocked_recipient'])
  })

  it('answers a repetition as the message is, and asks nobody', async () => {
    const world = await open(await location())
    first.says = () => waitUntil(world.now() + DAY)
    const sent = await world.notifier.send(mail, { idempotencyKey: 'k' })
    first.says = () => REFUSE
    asked.mockClear()
    expect(await world.notifier.send(mail, { idempotencyKey: 'k' })).toEqual({ ...sent, replayed: true })
    expect(asked).not.toHaveBeenCalled()
  })

  it.each<[what: string, one: Verdict, other: Verdict, ending: string, history: string]>([
    ['the first that says no', SKIP, REFUSE, 'skipped', 'skipped: opted_out'],
    ['the first that says no', REFUSE, SKIP, 'failed', 'failed: blocked_recipient'],
    ['no, before a wait', waitUntil(Number.MAX_SAFE_INTEGER), REFUSE, 'failed', 'failed: blocked_recipient'],
    ['not wanted, before a wait', waitUntil(Number.MAX_SAFE_INTEGER), SKIP, 'skipped', 'skipped: opted_out'],
  ])('follows, of two judges, %s', async (_what, one, other, ending, history) => {
    const world = await open(await location())
    const sendAt = new Date(world.now() + HOUR)
    const { id } = await world.notifier.send({ ...mail, sendAt })
    first.says = () => one
    second.says = () => other
    world.pass(HOUR)
    expect(await world.ended(id)).toBe(ending)
    expect((await world.history(id)).at(-1)).toBe(history)
    const again = await world.notifier.send(mail).then(
      (sent) => world.ended(sent.id),
      ({ code }) => code,
    )
    expect(again).toBe(ending === 'failed' ? 'blocked_recipient' : 'skipped')
  })

  it('follows, of two judges, the one that waits longer', async () => {
    const world = await open(await location())
    const now = world.now()
    first.says = () => waitUntil(now + DAY, 'A day.')
    second.says = () => waitUntil(now + HOUR, 'An hour.')
    const { id } = await world.notifier.send(mail)
    expect(await world.waiting(id)).toMatchObject({
      message: 'A day.',
      until: new Date(now + DAY).toISOString(),
    })
  })

  it('asks each judge a few times about a batch of 10,000', async () => {
    const world = await open(await location(), { deliver: false })
    const messages = Array.from({ length: 10_000 }, (_, at) => ({ ...mail, to: `${at}@example.com` }))
    const until = world.now() + DAY
    first.says = ({ to }) => (to.endsWith('7@example.com') ? waitUntil(until) : GO)
    second.says = ({ to }) => (to.endsWith('8@example.com') ? REFUSE : GO)
    const { accepted } = await world.notifier.sendBatch(messages)
    expect(accepted).toBe(9_000)
    expect(asked.mock.calls.length).toBeLessThanOrEqual(2 * 6)
    expect(asked.mock.calls.reduce((sum, [some]) => sum + some.length, 0)).toBe(2 * messages.length)
    const of = { organizationId: 'org_default', lanes: ['email'] }
    const { counts } = await world.storage.countJobs(of, 20_000)
    const delayed = counts.filter(({ state }) => state === 'scheduled')
    expect(delayed.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(1_000)
  })

  it('judges without a second connection in a transaction of the caller', async () => {
    const world = await open(await location(), { deliver: false })
    const id = await inTransaction(world, async (tx, client) => {
      if (client !== null && 'postgres' in world.location) {
        // Who reads on another connection waits for this one, and this one for them.
        const { schema } = world.location.postgres
        const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema])
        const tables = rows.map(({ tablename }) => `"${schema}"."${tablename}"`)
        await client.query(`LOCK TABLE ${tables.join()} IN ACCESS EXCLUSIVE MODE`)
      }
      return (await world.notifier.send(mail, { tx })).id
    })
    expect((await world.notifier.notifications.get(id)).status).toBe('queued')
    expect(asked.mock.calls.map(([, { inside }]) => inside)).toEqual(Array(2).fill(name === 'PostgreSQL'))
  })

  it.each([undefined, 'after:accept', 'before:settle', 'after:settle'] as const)(
    'loses nothing that waits, nor sends it twice, if the process is killed: %s',
    async (point) => {
      const at = await location()
      const options = { location: at, until: Date.now() + DAY, ...(point === undefined ? {} : { point }) }
      const program = runProgram('delayed', options satisfies DelayedProgram)
      if (point === undefined) {
        await program.said('waiting')
        program.kill('SIGKILL')
      }
      expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
      const { notifier, email, ended, history } = await open(at, { offMs: DAY + HOUR })
      const { items } = await notifier.notifications.list()
      expect(items).toHaveLength(point === 'after:accept' ? 1 : 2)
      for (const { id, to } of items) {
        expect(await ended(id)).toBe('sent')
        expect(email.messages.filter((message) => message.to === to)).toHaveLength(1)
        expect((await history(id)).filter((event) => event !== 'delayed')).toEqual(['queued', 'sent'])
      }
    },
  )
})
