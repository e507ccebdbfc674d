import { describe, expect, it } from 'vitest'
import { smtp } from '../../../adapters/channels/smtp/send.ts'
import { email, sms } from '../../../src/channels/built-in.ts'
import type { EmailKind } from '../../../src/channels/email.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import type { NotifierOptions } from '../../../src/options.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import type { Queue, QueueWorker } from '../../../src/ports/queue.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import type {
  ChannelProviders,
  OrganizationProviders,
} from '../../../src/services/channels/channel-option.ts'
import { perOrganization } from '../../../src/services/channels/channel-option.ts'
import { createProviderRegistry } from '../../../src/services/channels/provider-registry.ts'
import type { Notifier } from '../../../src/services/notifier.ts'
import { serviceOf } from '../../../src/services/service.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { type RecordingProvider, recordingProvider } from '../../../src/testing/recording-provider.ts'
import { engineParts } from '../../support/engine-parts.ts'
import { KINDS, kindOf } from '../../support/kinds.ts'
import { type NotifierWorld, notifierWorld } from '../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const MINUTE = 60_000

interface Tenants extends NotifierWorld {
  readonly notifier: Notifier
  /** The provider that was made for an organization last. */
  readonly made: ReadonlyMap<string, RecordingProvider>
  /** For whom providers were made, in order. */
  readonly asked: string[]
  /** Whose provider was closed, in order. */
  readonly closed: string[]
  send(organizationId: string, change?: object): Promise<string>
}

const ORGANIZATIONS = ['org_a', 'org_b', 'org_c']

/** A notifier whose e-mail providers are made for each organization. */
async function tenants(
  make: (organizationId: string, channel: () => RecordingProvider) => unknown = (_id, channel) => channel(),
  options: Partial<NotifierOptions> & { readonly shared?: Provider; readonly world?: NotifierWorld } = {},
): Promise<Tenants> {
  const { shared, world = notifierWorld(), ...others } = options
  const made = new Map<string, RecordingProvider>()
  const asked: string[] = []
  const closed: string[] = []
  const providersOf = (organizationId: string) => {
    asked.push(organizationId)
    return make(organizationId, () => {
      const close = (): void => void closed.push(organizationId)
      const channel = recordingProvider({ name: 'own', maxConcurrent: 5, close })
      made.set(organizationId, channel)
      return channel
    }) as ChannelProviders<EmailKind> | null
  }
  const notifier = await world.start({
    channels: { email: perOrganization(email, providersOf, shared as Provider<EmailKind> | undefined) },
    plans: {},
    ...others,
  })
  for (const id of ORGANIZATIONS) {
    if ((await world.storage.organizations.get(id)) === null)
      await notifier.organizations.create({ id, name: id })
  }
  return {
    ...world,
    notifier,
    made,
    asked,
    closed,
    send: async (organizationId, change = {}) =>
      (await notifier.organization(organizationId).send({ ...mail, ...change })).id,
  }
}

/** An engine that hands over at once what it is told of. */
function instantQueue(): Queue {
  let handle: QueueWorker['handle'] = async () => {}
  return {
    name: 'instant',
    async open() {},
    async announce(refs) {
      void handle(refs.filter(({ dueInMs }) => dueInMs === 0))
    },
    async work(worker) {
      handle = worker.handle
      return async () => {}
    },
    async close() {},
  }
}

const gone = () => Promise.reject(new Error('The vault is sealed.'))

describe('providers of an organization', () => {
  it("deliver its notifications and nobody else's, and are made once", async () => {
    const { send, ended, made, asked, notifier } = await tenants()
    for (const id of ORGANIZATIONS) {
      const ids = [await send(id), await send(id)]
      for (const notification of ids) expect(await ended(notifier, notification, id)).toBe('sent')
    }
    expect(asked).toEqual(ORGANIZATIONS)
    for (const id of ORGANIZATIONS) {
      expect(made.get(id)?.calls.map(({ context }) => context.organizationId)).toEqual([id, id])
    }
    expect((await notifier.health()).providers).toMatchObject(
      ORGANIZATIONS.map((organizationId) => ({ name: 'own', organizationId, state: 'ready' })),
    )
  })

  it('are made once for however many sends at one time', async () => {
    const { send, asked, clock } = await tenants(async (_id, channel) => {
      await new Promise((resolve) => setImmediate(resolve))
      return channel()
    })
    await Promise.all(Array.from({ length: 20 }, () => send('org_a')))
    await clock.advance(0)
    expect(asked).toEqual(['org_a'])
  })

  it('may be several that share, with their weights', async () => {
    const [one, two] = [recordingProvider({ name: 'one' }), recordingProvider({ name: 'two' })]
    const { notifier, clock } = await tenants(() => ({
      providers: [one, two],
      distribution: 'weighted',
      weights: { one: 3, two: 1 },
    }))
    await notifier.organization('org_a').sendBatch(Array.from({ length: 8 }, () => mail))
    await clock.advance(0)
    expect([one.calls.length, two.calls.length]).toEqual([6, 2])
  })

  it('are asked whether they accept a recipient', async () => {
    const { notifier } = await tenants((organizationId) =>
      recordingProvider({ accepts: (to) => organizationId === 'org_a' || !to.startsWith('ada') }),
    )
    await notifier.organization('org_a').send(mail)
    await expect(notifier.organization('org_b').send(mail)).rejects.toMatchObject({
      code: 'invalid_recipient',
    })
    const { items } = await notifier
      .organization('org_b')
      .sendBatch([mail, { ...mail, to: 'bob@example.com' }])
    expect(items).toMatchObject([{ error: { code: 'invalid_recipient' } }, { status: 'queued' }])
  })

  it('that are none refuse the channel, to this organization alone', async () => {
    const { notifier, send } = await tenants((organizationId, channel) =>
      organizationId === 'org_a' ? null : channel(),
    )
    const refusal = { code: 'invalid_channel' }
    await expect(notifier.organization('org_a').send(mail)).rejects.toMatchObject(refusal)
    await expect(notifier.organization('org_a').validate(mail)).rejects.toMatchObject(refusal)
    const { items } = await notifier.organization('org_a').sendBatch([mail])
    expect(items).toMatchObject([{ error: refusal }])
    await send('org_b')
  })

  it('that are none leave it the shared ones where there are some', async () => {
    const shared = recordingProvider({ name: 'shared' })
    const { send, ended, made, notifier } = await tenants(
      (organizationId, channel) => (organizationId === 'org_a' ? null : channel()),
      { shared },
    )
    expect(await ended(notifier, await send('org_a'), 'org_a')).toBe('sent')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(shared.calls.map(({ context }) => context.organizationId)).toEqual(['org_a'])
    expect(made.get('org_b')?.calls).toHaveLength(1)
  })

  it('that hang hold up nobody else', async () => {
    const { send, ended, made, notifier, clock } = await tenants()
    await send('org_a')
    await clock.advance(0)
    made.get('org_a')?.behave(() => new Promise(() => {}))
    for (let number = 0; number < 50; number += 1) await send('org_a')
    await clock.advance(0)
    expect(made.get('org_a')?.calls).toHaveLength(6)
    const began = clock.monotonic()
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(clock.monotonic()).toBe(began)
  })

  it('rest for themselves', async () => {
    const { send, ended, made, notifier, clock } = await tenants()
    await send('org_a')
    await clock.advance(0)
    const retry = {
      kind: 'retry',
      code: 'provider_quota_exceeded',
      scope: 'account',
      retryAfterMs: 10 * MINUTE,
    }
    made.get('org_a')?.behave(async () => retry)
    const heard: unknown[] = []
    notifier.on('provider.paused', ({ data }) => void heard.push(data))
    await send('org_a')
    await clock.advance(0)
    await send('org_a')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(made.get('org_a')?.calls).toHaveLength(2)
    expect(heard).toEqual([
      {
        channel: 'email',
        provider: 'own',
        organizationId: 'org_a',
        code: 'provider_quota_exceeded',
        message: 'provider_quota_exceeded',
        forMs: 10 * MINUTE,
      },
    ])
    expect((await notifier.health()).providers).toMatchObject([
      { organizationId: 'org_a', state: 'paused', code: 'provider_quota_exceeded' },
      { organizationId: 'org_b', state: 'ready', code: null, pausedUntil: null },
    ])
  })

  it('keep a pace of their own', async () => {
    const { notifier, clock, made } = await tenants((organizationId) => {
      const channel = recordingProvider({ maxPerSecond: 2 })
      channels.set(organizationId, channel)
      return channel
    })
    expect(made.size).toBe(0)
    for (const organizationId of ['org_a', 'org_b'])
      await notifier.organization(organizationId).sendBatch(Array.from({ length: 5 }, () => mail))
    await clock.advance(0)
    expect(['org_a', 'org_b'].map((id) => channels.get(id)?.calls.length)).toEqual([2, 2])
  })
  const channels = new Map<string, RecordingProvider>()
})

describe('a function that fails', () => {
  it.each<[string, () => unknown]>([
    ['rejects', gone],
    [
      'throws',
      () => {
        throw new Error('The vault is sealed.')
      },
    ],
    ['answers no provider', () => ({})],
    ['answers one of another channel', () => ({ ...recordingProvider(), kind: sms }) as never],
    ['answers one that a lease is too short for', () => recordingProvider({ timeoutMs: 70_000 })],
  ])('and %s lets what it concerns wait, visibly, and goes on by itself', async (_name, fail) => {
    let down = true
    const { send, ended, history, notifier, clock, errors } = await tenants((id, channel) =>
      down && id === 'org_a' ? fail() : channel(),
    )
    const ids = [await send('org_a'), await send('org_a'), await send('org_a')]
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    await clock.advance(20_000)
    for (const id of ids)
      expect((await notifier.organization('org_a').notifications.get(id)).status).toBe('queued')
    expect((await history(notifier, ids[0] as string, 'org_a')).slice(0, 2)).toEqual([
      'queued',
      'attempt_failed: provider_unavailable',
    ])
    expect((await notifier.health()).waiting).toEqual([{ lane: 'email@org_a', reason: 'unavailable' }])
    expect(errors.length).toBeGreaterThan(0)
    // Nothing of what it threw is shown to the organization.
    const { timeline } = await notifier.organization('org_a').notifications.get(ids[0] as string)
    expect(JSON.stringify(timeline)).not.toContain('vault')
    down = false
    for (const id of ids) expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect((await notifier.health()).waiting).toEqual([])
  })

  const unusable = ', made no provider that can be used: see `cause`.'

  it.each<[string, OrganizationProviders, object]>([
    ['a function that throws', gone, { message: unusable }],
    ['an `open` that throws', () => recordingProvider({ open: gone }), { message: unusable }],
    [
      'a maker of providers that nobody has called',
      smtp as never,
      { code: 'invalid_configuration', message: ': smtp: "options": must be an object.' },
    ],
  ])(
    'tells operators where and for whom: %s',
    async (_name, email, { message, ...rest }: { message?: string }) => {
      const errors: Error[] = []
      const { start } = notifierWorld()
      const notifier = await start({ channels: { email: perOrganization(kindOf('email'), email) } })
      notifier.on('error', (error) => errors.push(error))
      await notifier.send(mail)
      const called = 'The function channels.email, called with "org_default"'
      expect(errors[0]).toMatchObject({ ...rest, message: `${called}${message}`, cause: expect.any(Error) })
    },
  )

  it('with something that has no text harms nobody, whatever the logger does', async () => {
    const broken = (): never => {
      throw new Error('The disk is full.')
    }
    const { send, ended, notifier } = await tenants(
      (id, channel) => (id === 'org_a' ? Promise.reject(Object.create(null)) : channel()),
      { logger: { debug: broken, info: broken, warn: broken, error: broken } },
    )
    await send('org_a')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(await ended(notifier, await send('org_c'), 'org_c')).toBe('sent')
  })

  it('after a crash leaves the policy of what was being asked in force', async () => {
    let [crashed, down] = [true, false]
    const clock = fakeClock()
    const inner = memoryStorage({ clock })
    // The outcome never reaches the storage: the lease runs out, as after the death of the process.
    const settle: Storage['settle'] = async (settlements) =>
      crashed ? settlements.map(() => ({ kind: 'stale' as const })) : inner.settle(settlements)
    const calls: string[] = []
    const { send, ended, history, notifier } = await tenants(
      (organizationId) =>
        down && organizationId === 'org_a'
          ? gone()
          : recordingProvider({
              onAmbiguous: 'fail',
              send: async () => {
                calls.push(organizationId)
                // New credentials are asked for, and their store is away.
                return crashed
                  ? { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
                  : { kind: 'accepted' }
              },
            }),
      {
        world: notifierWorld({ clock, storage: { ...inner, settle } }),
        delivery: { leaseMs: MINUTE, pollMs: 1_000 },
      },
    )
    const id = await send('org_a')
    await clock.until(() => calls.length > 0)
    await clock.advance(1)
    ;[crashed, down] = [false, true]
    await clock.advance(3 * MINUTE)
    // While it waits others are served.
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    down = false
    expect(await ended(notifier, id, 'org_a')).toBe('failed')
    const events = await history(notifier, id, 'org_a')
    expect(events.slice(0, 3)).toEqual([
      'queued',
      'attempt_ambiguous: delivery_unknown',
      'attempt_failed: provider_unavailable',
    ])
    expect(events.at(-1)).toBe('failed: delivery_unknown')
    expect(calls).toEqual(['org_a', 'org_b'])
  })

  it('lets no expired message wait for the turn of another', async () => {
    const { send, notifier, clock } = await tenants(gone)
    const until = clock.now() + 3_000
    const ids: string[] = []
    for (let number = 0; number < 20; number += 1)
      ids.push(await send('org_a', { expiresAt: new Date(until) }))
    await clock.advance(20_000)
    for (const id of ids) {
      const { status, error } = await notifier.organization('org_a').notifications.get(id)
      expect([status, error?.code]).toEqual(['failed', 'expired'])
    }
  })

  it('is not asked again at once, however much waits', async () => {
    const { send, asked, clock } = await tenants(gone)
    for (let number = 0; number < 30; number += 1) {
      await send('org_a')
      await clock.advance(1_000)
    }
    expect(asked.length).toBeLessThanOrEqual(6)
  })

  it('and hangs holds up nobody else, neither at accept nor in delivery', async () => {
    const { send, ended, notifier, clock, asked } = await tenants((id, channel) =>
      id === 'org_a' ? new Promise(() => {}) : channel(),
    )
    const sending = send('org_a')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(clock.monotonic()).toBe(0)
    await clock.advance(10_000)
    expect(await sending).toMatch(/^notif_/)
    await clock.advance(MINUTE)
    expect(asked.filter((id) => id === 'org_b')).toHaveLength(1)
  })

  it('and hangs for several channels holds up a batch no longer than for one', async () => {
    const { start, clock } = notifierWorld()
    const hangs = () => new Promise<never>(() => {})
    const notifier = await start({
      channels: { email: perOrganization(email, hangs), sms: perOrganization(sms, hangs) },
    })
    const sending = notifier.sendBatch([mail, { channel: 'sms', to: '+14155550123', body: 'Hello' }])
    await clock.advance(10_000)
    expect((await sending).accepted).toBe(2)
  })

  it('and hangs is taken for one that fails: seen, asked again, and nothing outlives its expiry', async () => {
    let hangs = true
    const { send, ended, history, notifier, clock, asked, errors } = await tenants((_id, channel) =>
      hangs ? new Promise(() => {}) : channel(),
    )
    const ids = [send('org_a', { expiresAt: new Date(clock.now() + 12_000) }), send('org_a')]
    await clock.advance(10_000)
    const [expiring = '', id = ''] = await Promise.all(ids)
    expect((await notifier.health()).waiting).toEqual([{ lane: 'email@org_a', reason: 'unavailable' }])
    expect(errors.map(({ message }) => message)).toEqual([
      'channels.email(org_a) has not answered within 10 seconds.',
    ])
    await clock.advance(2 * MINUTE)
    expect((await notifier.health()).waiting).toEqual([{ lane: 'email@org_a', reason: 'unavailable' }])
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.length).toBeLessThan(8)
    expect((await history(notifier, expiring, 'org_a')).at(-1)).toBe('failed: expired')
    hangs = false
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect((await notifier.health()).waiting).toEqual([])
  })

  it('and answers late is believed, and what it is asked for meanwhile is closed', async () => {
    const answers: (() => void)[] = []
    const { send, ended, notifier, clock, closed, made } = await tenants(
      (_id, channel) => new Promise((resolve) => answers.push(() => resolve(channel()))),
    )
    const sending = send('org_a')
    await clock.advance(12_000)
    const id = await sending
    expect(answers).toHaveLength(2)
    answers[0]?.()
    await clock.advance(0)
    const first = made.get('org_a')
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
    answers[1]?.()
    await clock.advance(0)
    expect(closed).toEqual(['org_a'])
    await send('org_a')
    await clock.advance(0)
    expect(first?.calls).toHaveLength(2)
  })
})

describe('an idle organization', () => {
  it('has its providers closed, and made again when it comes back', async () => {
    const { send, asked, closed, clock, ended, notifier } = await tenants()
    expect(await ended(notifier, await send('org_a'), 'org_a')).toBe('sent')
    await clock.advance(25 * MINUTE)
    expect([asked, closed]).toEqual([['org_a'], ['org_a']])
    expect((await notifier.health()).providers).toEqual([])
    expect(await ended(notifier, await send('org_a'), 'org_a')).toBe('sent')
    expect([asked, closed]).toEqual([['org_a', 'org_a'], ['org_a']])
  })

  it('keeps them as long as a message is under way', async () => {
    let end = (): void => {}
    const { send, closed, clock } = await tenants(
      (id) =>
        recordingProvider({
          timeoutMs: 55 * MINUTE,
          close: () => void log.push(id),
          send: () => new Promise((resolve) => (end = () => resolve({ kind: 'accepted' }))),
        }),
      { delivery: { leaseMs: 110 * MINUTE, pollMs: 60 * MINUTE } },
    )
    const log: string[] = []
    await send('org_a')
    await clock.advance(50 * MINUTE)
    expect(log).toEqual([])
    end()
    await clock.advance(25 * MINUTE)
    expect([log, closed]).toEqual([['org_a'], []])
  })

  it('closes what several have been given when the last of them has', async () => {
    const closes: number[] = []
    const one = recordingProvider({ close: () => void closes.push(clock.monotonic()) })
    const { send, clock, notifier } = await tenants(() => one)
    await send('org_a')
    await clock.advance(8 * MINUTE)
    await send('org_b')
    await clock.advance(8 * MINUTE)
    expect(closes).toHaveLength(0)
    await notifier.stop()
    expect(closes).toHaveLength(1)
  })
})

it('are counted with their channel in metrics, which name no organization', async () => {
  const { send, notifier, clock, made } = await tenants()
  await send('org_c')
  await clock.advance(0)
  made.get('org_c')?.behave(() => new Promise(() => {}))
  for (const organizationId of ['org_a', 'org_b', 'org_c'])
    await send(organizationId, { sendAt: new Date(clock.now() + 60 * MINUTE) })
  await send('org_c')
  await clock.advance(0)
  const metrics = await notifier.metrics()
  expect(metrics.backlog?.lanes).toEqual([
    { lane: 'email', due: 0, scheduled: 3, leased: 1, oldestDueMs: null },
  ])
  expect(JSON.stringify([metrics.backlog, metrics.counters, metrics.histograms])).not.toContain('org_')
})

describe('more organizations than are kept open', () => {
  it('have those closed that were used longest ago, and are not in use', async () => {
    const clock = fakeClock()
    const closed: string[] = []
    const registry = createProviderRegistry({
      kinds: KINDS,
      sources: new Map([
        [
          'email',
          {
            kind: kindOf('email'),
            shared: null,
            perOrganization: (id: string) => recordingProvider({ close: () => void closed.push(id) }),
          },
        ],
      ]),
      clock,
      leaseMs: MINUTE,
      failed() {},
    })
    const letGo = await useOf('org_0')
    async function useOf(id: string): Promise<() => void> {
      await registry.warm('email', id)
      return registry.own('email')?.hold(id) ?? (() => {})
    }
    for (let number = 1; number < 1_000; number += 1) await registry.warm('email', `org_${number}`)
    expect(closed).toEqual([])
    await registry.warm('email', 'org_1')
    await registry.warm('email', 'org_1000')
    await registry.warm('email', 'org_1001')
    expect(closed).toEqual(['org_2', 'org_3'])
    letGo()
    await registry.close()
    expect(closed).toHaveLength(1_002)
    expect(new Set(closed).size).toBe(1_002)
  })

  it('are all delivered when they fall due at once, each by providers that are made once for that', async () => {
    const { notifier, send, clock, storage, asked, closed } = await tenants()
    const ids = Array.from({ length: 2_500 }, (_, number) => `org_${number}`)
    const sendAt = new Date(clock.now() + MINUTE)
    for (const id of ids) {
      await notifier.organizations.create({ id, name: id })
      await send(id, { sendAt })
    }
    expect(asked).toEqual(ids)
    await clock.advance(MINUTE)
    await clock.until(async () => (await storage.claim({ lanes: [], leaseMs: MINUTE })).lanes.length === 0)
    for (const organizationId of ids) {
      const { items } = await notifier.organization(organizationId).notifications.list()
      expect(items.map(({ status }) => status)).toEqual(['sent'])
    }
    expect(asked.length).toBeLessThanOrEqual(2 * ids.length)
    expect(closed.length).toBeGreaterThanOrEqual(asked.length - 1_001)
  })
})

describe('refused credentials', () => {
  it('are made anew when the rest is over, and the old ones closed', async () => {
    let good = false
    const { send, ended, notifier, asked, closed, clock } = await tenants((_id, channel) => {
      const made = channel()
      const accepts = good
      made.behave(async () =>
        accepts ? { kind: 'accepted' } : { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
      )
      return made
    })
    const id = await send('org_a')
    await clock.advance(0)
    good = true
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect(asked.length).toBeGreaterThanOrEqual(2)
    expect(closed.length).toBe(asked.length - 1)
  })

  it('are asked for at the end of the rest, though more is sent during it', async () => {
    let good = false
    const { send, ended, notifier, asked, clock } = await tenants((_id, channel) => {
      const made = channel()
      const accepts = good
      made.behave(async () =>
        accepts ? { kind: 'accepted' } : { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
      )
      return made
    })
    const ids = [await send('org_a')]
    await clock.advance(10_000)
    ids.push(await send('org_a'))
    await clock.advance(10_000)
    expect(asked).toEqual(['org_a'])
    good = true
    for (const id of ids) expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect(asked).toEqual(['org_a', 'org_a'])
    for (const id of ids) {
      const { timeline } = await notifier.organization('org_a').notifications.get(id)
      expect(timeline.filter(({ event }) => event === 'attempt_failed').length).toBeLessThanOrEqual(1)
    }
  })
})

describe('stop', () => {
  it('closes every provider once', async () => {
    const { send, notifier, closed, clock } = await tenants()
    for (const id of ORGANIZATIONS) await send(id)
    await clock.advance(0)
    await notifier.stop()
    expect(closed.toSorted()).toEqual(ORGANIZATIONS)
  })

  it('closes what is still being made when it arrives', async () => {
    let arrive = (): void => {}
    const { send, notifier, clock, closed } = await tenants(
      (_id, channel) => new Promise((resolve) => (arrive = () => resolve(channel()))),
    )
    const sending = send('org_a')
    await clock.advance(10_000)
    await sending
    const stopped = notifier.stop()
    await clock.advance(20_000)
    await stopped
    expect(closed).toEqual([])
    arrive()
    await clock.advance(0)
    expect(closed).toEqual(['org_a'])
  })
})

describe('notifications stored under another configuration', () => {
  /** Stores one notification of each of two organizations without delivering. */
  async function stored(
    world: NotifierWorld,
    channels: NotifierOptions['channels'],
  ): Promise<[string, string][]> {
    const before = await world.start({ channels, plans: {}, delivery: { pollMs: 60 * MINUTE } })
    for (const id of ORGANIZATIONS) await before.organizations.create({ id, name: id })
    const ids: [string, string][] = []
    const sendAt = new Date(world.clock.now() + MINUTE)
    for (const organizationId of ['org_a', 'org_b'])
      ids.push([organizationId, (await before.organization(organizationId).send({ ...mail, sendAt })).id])
    await before.maintenance(true)
    return ids
  }

  /** A storage that outlives its notifiers. */
  function lasting(): NotifierWorld {
    const world = notifierWorld()
    Object.assign(world.storage, { stop: async () => {} })
    return world
  }

  it("go to the organization's own providers when the channel has become a function", async () => {
    const world = lasting()
    const before = await world.start({ channels: { email: recordingProvider() }, plans: {} })
    for (const id of ORGANIZATIONS) await before.organizations.create({ id, name: id })
    const sendAt = new Date(world.clock.now() + MINUTE)
    const ids = []
    for (const organizationId of ['org_a', 'org_b'])
      ids.push((await before.organization(organizationId).send({ ...mail, sendAt })).id)
    await before.stop()
    const { notifier, made } = await tenants(undefined, { world })
    expect(await world.ended(notifier, ids[0] as string, 'org_a')).toBe('sent')
    expect(await world.ended(notifier, ids[1] as string, 'org_b')).toBe('sent')
    expect(['org_a', 'org_b'].map((id) => made.get(id)?.calls.length)).toEqual([1, 1])
  })

  it('go to the shared providers when the channel is the same for all by now', async () => {
    const world = lasting()
    const before = await tenants(undefined, { world })
    const sendAt = new Date(world.clock.now() + MINUTE)
    const id = await before.send('org_a', { sendAt })
    await before.notifier.stop()
    const shared = recordingProvider({ name: 'shared' })
    const notifier = await world.start({ channels: { email: shared }, plans: {} })
    expect(await world.ended(notifier, id, 'org_a')).toBe('sent')
    expect(shared.calls).toHaveLength(1)
  })

  it('never take more of the shared providers than they have slots, whichever lane they wait in', async () => {
    const world = lasting()
    const before = await tenants(undefined, { world })
    const sendAt = new Date(world.clock.now() + MINUTE)
    for (const organizationId of ORGANIZATIONS) {
      await before.notifier
        .organization(organizationId)
        .sendBatch(Array.from({ length: 10 }, () => ({ ...mail, sendAt })))
    }
    await before.notifier.stop()
    const shared = recordingProvider({ maxConcurrent: 4, send: () => new Promise(() => {}) })
    await world.start({ channels: { email: shared }, plans: {} })
    await world.clock.advance(MINUTE)
    expect(shared.calls).toHaveLength(4)
    const lanes = ORGANIZATIONS.map((id) => ({ lane: `email@${id}`, free: 100 }))
    expect((await world.storage.claim({ lanes, leaseMs: 1 })).jobs).toHaveLength(26)
  })

  it('use up the pace of the shared providers, however many lanes they wait in', async () => {
    const world = lasting()
    const before = await tenants(undefined, { world })
    const sendAt = new Date(world.clock.now() + MINUTE)
    for (let number = 0; number < 30; number += 1) {
      const organizationId = `org_${number}`
      await before.notifier.organizations.create({ id: organizationId, name: organizationId })
      const five = Array.from({ length: 5 }, () => ({ ...mail, sendAt }))
      await before.notifier.organization(organizationId).sendBatch(five)
    }
    await before.notifier.stop()
    const accepted = { kind: 'accepted' } as const
    const shared = recordingProvider({
      maxPerSecond: 100,
      maxConcurrent: 5,
      send: () => new Promise((resolve) => world.clock.timer(20, () => resolve(accepted))),
    })
    await world.start({ channels: { email: shared }, plans: {} })
    await world.clock.advance(MINUTE + 900)
    expect(shared.calls.length).toBeGreaterThan(90)
    expect(shared.calls.length).toBeLessThanOrEqual(100)
  })

  it('wait, visibly, when the organization has lost its providers, and go when it has some', async () => {
    let none = false
    const { notifier, send, ended, clock, made, history } = await tenants((_id, channel) =>
      none ? null : channel(),
    )
    const id = await send('org_a', { sendAt: new Date(clock.now() + 60 * MINUTE) })
    none = true
    await clock.advance(61 * MINUTE)
    expect(made.get('org_a')?.calls).toEqual([])
    expect((await notifier.health()).waiting).toEqual([
      { lane: 'email@org_a', reason: 'channel_not_configured' },
    ])
    expect(await history(notifier, id, 'org_a')).toContain('attempt_failed: channel_not_configured')
    none = false
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
  })

  it.each<[string, Queue | undefined]>([
    ['', undefined],
    [', however much a queue engine hands over', instantQueue()],
  ])('are named in the health of a process that has no provider of their channel%s', async (_how, queue) => {
    const world = lasting()
    const ids = await stored(world, { email: recordingProvider({ name: 'mail' }) })
    expect(ids).toHaveLength(2)
    const other = notifierWorld({ clock: world.clock, storage: world.storage })
    const notifier = await other.start({
      channels: { sms: recordingProvider() },
      delivery: { pollMs: 1_000 },
      ...(queue === undefined ? {} : { queue }),
    })
    await world.storage.accept([
      {
        organizationId: 'org_a',
        notifications: [
          {
            id: 'notif_1',
            channel: 'push',
            to: 'token',
            content: { body: 'x' },
            lane: 'push',
            priority: 'normal',
            sendAt: null,
            expiresAt: null,
          },
        ],
      },
    ])
    await world.clock.advance(2_000)
    await notifier.send({ channel: 'sms', to: '+14155550123', body: 'x' })
    await world.clock.advance(10)
    expect((await notifier.health()).waiting).toEqual([{ lane: 'push', reason: 'channel_not_configured' }])
  })
})

describe('an instance for receipts', () => {
  it('is found by organization, channel and name, made when needed, and not closed under its user', async () => {
    const clock = fakeClock()
    const log: string[] = []
    const own = () => recordingProvider({ name: 'own', close: () => void log.push('closed') })
    const shared = recordingProvider({ name: 'shared' })
    const registry = createProviderRegistry({
      kinds: KINDS,
      clock,
      leaseMs: MINUTE,
      failed() {},
      sources: new Map([
        [
          'email',
          {
            kind: kindOf('email'),
            shared: {
              providers: [engineParts(shared, clock).registry.shared('email')?.providers[0] as never],
              weights: null,
            },
            perOrganization: (id: string) => (id === 'org_a' ? own() : null),
          },
        ],
      ]),
    })
    const find = (organizationId: string | null, name: string) =>
      registry.withInstance({ organizationId, channel: 'email', name }, async (provider) => {
        if (organizationId !== null) await clock.advance(60 * MINUTE)
        return [provider.name, provider.organizationId, [...log]]
      })
    expect(await find(null, 'shared')).toEqual(['shared', null, []])
    expect(await find('org_a', 'own')).toEqual(['own', 'org_a', []])
    expect(await find('org_a', 'shared')).toBe(null)
    expect(await find('org_b', 'own')).toBe(null)
    expect(
      await registry.withInstance({ organizationId: null, channel: 'sms', name: 'x' }, async () => 1),
    ).toBe(null)
  })
})

it('a report for an organization that does not exist asks the application for nothing', async () => {
  const { notifier, asked } = await tenants()
  const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body: new Uint8Array() }
  for (const organizationId of ['org_nobody', 'org_', 'x'.repeat(500)]) {
    const source = { organizationId, channel: 'email', provider: 'recorder' } as const
    await expect(serviceOf(notifier).receipts.take(source, arrival)).rejects.toMatchObject({
      code: 'not_found',
    })
  }
  expect(asked).toEqual([])
})

it('reports for an organization whose providers cannot be made hold up nobody else', async () => {
  const { notifier } = await tenants((organizationId, channel) =>
    organizationId === 'org_a'
      ? new Promise(() => {})
      : { ...channel(), parseReceipts: async () => ({ kind: 'receipts', receipts: [] }) },
  )
  const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body: new Uint8Array() }
  const source = { channel: 'email', provider: 'own' } as const
  for (let report = 0; report < 20; report += 1) {
    serviceOf(notifier)
      .receipts.take({ ...source, organizationId: 'org_a' }, arrival)
      .catch(() => {})
  }
  const reply = await serviceOf(notifier).receipts.take({ ...source, organizationId: 'org_b' }, arrival)
  expect(reply.body).toBe('')
})
