import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../../src/core/observe/silent-logger.ts'
import type { ExpireAnswer, ExpireRequest } from '../../../../src/core/ports/storage/expire.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { createRecordStores } from '../../../../src/core/records/record-stores.ts'
import { perMinutePlans, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { RETENTION_DAYS } from '../../../../src/core/tenancy/retention.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { contentPositionKind, createRetention } from '../../../../src/features/retention/service.ts'
import { usedTokenKind } from '../../../../src/features/sessions/service.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('retention', () => {
  async function start(options: Partial<NotifierOptions> = {}, deliver = true) {
    const clock = fakeClock()
    const storage: Storage = inMemory(clock)
    const channel = recordingProvider({ maxConcurrent: 1_000 })
    const lines: { readonly level: string; readonly message: string; readonly fields: unknown }[] = []
    const log = (level: string) => (message: string, fields?: unknown) =>
      void lines.push({ level, message, fields })
    const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
    const sweeps: number[] = []
    const drops: (number | null)[] = []
    const observed = {
      ...storage,
      async expire(request: ExpireRequest): Promise<ExpireAnswer> {
        const { what } = request
        if (what.organizationId === 'org_broken') throw new Error('A row that cannot be read.')
        const answer = await storage.expire(request)
        if (what.organizationId !== undefined) {
          sweeps.push(answer.removed.notifications ?? 0)
          return answer
        }
        drops.push(what.longestMs === null ? null : what.longestMs / DAY)
        const partitions = drops.length === 1 && what.longestMs === 11 * DAY ? 6 : 0
        return { ...answer, removed: { ...answer.removed, partitions } }
      },
    }
    const notifier = createNotifier({
      channels: { email: channel },
      storage: observed,
      clock,
      logger,
      delivery: { pollMs: 30 * DAY },
      plans: {},
      ...options,
    })
    await notifier.start({ deliver })
    onTestFinished(() => notifier.stop())
    const ids = async (organizationId = 'org_default'): Promise<string[]> => {
      const { items } = await notifier.organization(organizationId).notifications.list({ limit: 100 })
      return items.map(({ id }) => id)
    }
    const send = (organizationId = 'org_default') =>
      notifier.organization(organizationId).send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    return { clock, storage, notifier, lines, channel, sweeps, drops, ids, send }
  }

  it('removes a week’s thousands in small steps, and sends go on between them', async () => {
    const { clock, notifier, sweeps, channel, ids, send, lines } = await start({ retention: { logDays: 7 } })
    const messages = Array.from({ length: 2_000 }, () => ({
      channel: 'email' as const,
      to: 'ada@example.com',
      body: 'Hi',
    }))
    await notifier.sendBatch(messages)
    await clock.until(() => channel.calls.length === 2_000)
    await clock.advance(DAY)
    expect(sweeps.every((count) => count === 0)).toBe(true)
    const { id: later } = await send()
    await clock.advance(6 * DAY - HOUR)
    const first = sweeps.length
    // In virtual time the run begins with its timer and ends some pauses later.
    await clock.until(() => sweeps.length > first && (sweeps.at(-1) ?? 0) > 0)
    const { id: between } = await send()
    await clock.until(() => channel.calls.length === 2_002)
    const soFar = sweeps.reduce((sum, count) => sum + count, 0)
    expect(soFar).toBeGreaterThan(0)
    expect(soFar).toBeLessThan(2_000)
    await clock.until(() => sweeps.reduce((sum, count) => sum + count, 0) === 2_000)
    expect(Math.max(...sweeps)).toBeLessThanOrEqual(500)
    expect(await ids()).toEqual([between, later])
    expect((await notifier.logs.list()).items.map(({ notificationId }) => notificationId)).toEqual([
      between,
      between,
      later,
      later,
    ])
    await clock.advance(MINUTE)
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'info',
        fields: {
          notifications: 2_000,
          contents: 0,
          deliveries: 0,
          idempotency: 0,
          receipts: 0,
          partitions: 0,
        },
      }),
    )
  })

  it('lets everything else have its turn between many organizations, with and without something old', async () => {
    const { clock, notifier, sweeps, send } = await start({ retention: { logDays: 1 } })
    for (let index = 0; index < 250; index += 1)
      await notifier.organizations.create({ id: `org_${index}`, name: 'One of many' })
    const removed = (): number => sweeps.reduce((sum, count) => sum + count, 0)
    await clock.until(() => sweeps.length > 0)
    expect(sweeps.length).toBeLessThanOrEqual(100)
    await clock.until(() => sweeps.length === 251)
    for (let index = 0; index < 50; index += 1) await send(`org_${index}`)
    await clock.until(() => removed() > 0)
    expect(removed()).toBe(1)
    await clock.until(() => removed() === 50)
  })

  it('is that of each organization, 90 days where nobody says otherwise', async () => {
    const { clock, notifier, ids, send } = await start()
    await notifier.organizations.create({ id: 'org_short', name: 'Short', retention: { logDays: 30 } })
    const long = await notifier.organizations.create({ id: 'org_long', name: 'Long' })
    expect(long.retention).toEqual({ contentDays: null, logDays: null })
    await notifier.organizations.update('org_long', { retention: { logDays: 100 } })
    const all = ['org_default', 'org_short', 'org_long']
    for (const organizationId of all) await send(organizationId)
    const left = async () => Promise.all(all.map(async (id) => (await ids(id)).length))
    await clock.advance(30 * DAY - HOUR)
    expect(await left()).toEqual([1, 1, 1])
    await clock.advance(2 * HOUR)
    expect(await left()).toEqual([1, 0, 1])
    await clock.advance(60 * DAY)
    expect(await left()).toEqual([0, 0, 1])
    await clock.advance(10 * DAY)
    expect(await left()).toEqual([0, 0, 0])
  })

  it('may be for ever, and an organization may still have its own', async () => {
    const { clock, notifier, ids, send, sweeps } = await start({ retention: { logDays: false } })
    await notifier.organizations.create({ id: 'org_short', name: 'Short', retention: { logDays: 1 } })
    await send()
    await send('org_short')
    await clock.advance(3 * DAY)
    expect([(await ids()).length, (await ids('org_short')).length]).toEqual([1, 0])
    expect(sweeps.filter((count) => count > 0)).toEqual([1])
  })

  it('is that of the plan, unless the organization has its own', async () => {
    const kept = (logDays: number | false) => ({ ...UNLIMITED, retention: { logDays } })
    const plans = { ...perMinutePlans, short: kept(2), long: kept(false) }
    const { clock, notifier, drops, ids, send } = await start({ plans, retention: { logDays: 4 } })
    await notifier.organizations.create({ id: 'org_short', name: 'Short', plan: 'short' })
    await notifier.organizations.create({ id: 'org_none', name: 'None', plan: 'pro' })
    const own = { plan: 'short', retention: { logDays: 6 } }
    await notifier.organizations.create({ id: 'org_own', name: 'Own', ...own })
    const all = ['org_default', 'org_short', 'org_none', 'org_own']
    for (const organizationId of all) await send(organizationId)
    const left = async () => Promise.all(all.map(async (id) => (await ids(id)).length))
    await clock.advance(2 * DAY + 2 * HOUR)
    expect(await left()).toEqual([1, 0, 1, 1])
    await clock.advance(2 * DAY)
    expect(await left()).toEqual([0, 0, 0, 1])
    expect(new Set(drops)).toEqual(new Set([6]))
    await notifier.organizations.update('org_own', { plan: 'long', retention: null })
    await clock.advance(3 * DAY)
    expect([(await ids('org_own')).length, drops.at(-1)]).toEqual([1, null])
    await notifier.organizations.update('org_own', { plan: 'short' })
    await clock.advance(2 * HOUR)
    expect([(await ids('org_own')).length, drops.at(-1)]).toEqual([0, 4])
  })

  it('lets a storage drop what is past as a whole, and says so', async () => {
    const { clock, drops, lines } = await start({ retention: { logDays: 11 } })
    await clock.advance(2 * HOUR)
    expect(drops).toEqual([11, 11])
    const fields = expect.objectContaining({ partitions: 6 })
    expect(lines).toContainEqual(expect.objectContaining({ level: 'info', fields }))
  })

  it.each([
    [{ logDays: 11 }, 30, 30],
    [{ logDays: 11 }, 5, 11],
    [{ logDays: false }, 30, null],
  ] as const)(
    'names the longest retention: with %j and one of %s days %s',
    async (retention, logDays, longest) => {
      const { clock, notifier, drops } = await start({ retention })
      await notifier.organizations.create({ id: 'org_own', name: 'Own', retention: { logDays } })
      await clock.advance(HOUR)
      expect(drops).toEqual([longest])
    },
  )

  it('tells of receipts that matched nothing, by provider and type', async () => {
    const { clock, storage, lines } = await start()
    const receipt = (dedupeKey: string, type: 'delivered' | 'bounced') => ({
      provider: 'smtp',
      organizationId: null,
      dedupeKey,
      fact: { type, provider: 'smtp', providerMessageId: dedupeKey } as const,
    })
    await storage.recordReceipts([
      receipt('a', 'delivered'),
      receipt('b', 'delivered'),
      receipt('c', 'bounced'),
    ])
    await clock.advance(DAY + HOUR)
    const told = lines.filter(({ message }) => message.startsWith('Reports of a provider'))
    const about = { provider: 'smtp', organizationId: null }
    expect(told.map(({ level, fields }) => [level, fields])).toEqual([
      ['warn', { ...about, type: 'delivered', count: 2 }],
      ['warn', { ...about, type: 'bounced', count: 1 }],
    ])
  })

  it('is left to processes that deliver', async () => {
    const { clock, sweeps } = await start({}, false)
    await clock.advance(DAY)
    expect(sweeps).toEqual([])
  })

  it('ends with the notifier, in the middle of a run too', async () => {
    const { clock, storage, notifier, sweeps } = await start({ retention: { logDays: 1 } })
    await notifier.sendBatch(
      Array.from({ length: 1_500 }, () => ({ channel: 'email' as const, to: 'a@example.com', body: 'Hi' })),
    )
    await clock.until(() => sweeps.some((count) => count > 0))
    const done = sweeps.length
    await notifier.stop()
    await clock.advance(DAY)
    expect(sweeps).toHaveLength(done)
    const left = await storage.notifications.list({ organizationId: 'org_default' }, { limit: 1, offset: 0 })
    expect(left.items).toHaveLength(1)
  })

  it('of one organization that fails is reported, and that of the others goes on', async () => {
    const { clock, notifier, ids, send } = await start({ retention: { logDays: 1 } })
    const errors: Error[] = []
    notifier.on('error', (error) => errors.push(error))
    // Listed newest first: it fails before the others have had their turn.
    await notifier.organizations.create({ id: 'org_broken', name: 'Broken' })
    await send()
    await clock.advance(2 * DAY)
    expect(new Set(errors.map(({ message }) => message))).toEqual(new Set(['A row that cannot be read.']))
    expect(await ids()).toEqual([])
  })

  it('goes on an hour after a fault of the storage', async () => {
    const { clock, storage, notifier, ids, send } = await start({ retention: { logDays: 1 } })
    const errors: Error[] = []
    notifier.on('error', (error) => errors.push(error))
    await send()
    const { list } = storage.records
    const broken = { count: 1 }
    storage.records.list = async (kind, of, page) => {
      broken.count -= 1
      if (broken.count === 0) throw new Error('The database is away.')
      return list(kind, of, page)
    }
    await clock.advance(HOUR)
    expect(errors.map(({ message }) => message)).toEqual(['The database is away.'])
    await clock.advance(2 * DAY)
    expect(await ids()).toEqual([])
  })
})

describe('auditDays', () => {
  it('removes erasures of organizations and over all of them', async () => {
    const clock = fakeClock()
    const notifier = createNotifier({
      channels: { email: recordingProvider() },
      storage: inMemory(clock),
      clock,
      retention: { auditDays: 20 },
      delivery: { pollMs: HOUR },
    })
    await notifier.start()
    onTestFinished(() => notifier.stop())
    await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    const owners = [notifier, notifier.organization('org_acme'), notifier.allOrganizations]
    for (const { people } of owners) await people.erase({ recipient: 'user:42' })
    await clock.advance(10 * DAY)
    for (const { people } of owners) await people.erase({ recipient: 'user:42' })
    const statuses = () =>
      Promise.all(
        owners.map(async ({ people }) => (await people.listErasures()).items.map(({ status }) => status)),
      )
    expect(await statuses()).toEqual(owners.map(() => ['running', 'completed']))
    await clock.advance(11 * DAY)
    expect(await statuses()).toEqual(owners.map(() => ['completed']))
  })
})

describe.each(['contentDays', 'logDays', 'auditDays'] as const)('%s', (kind) => {
  it.each([0, -1, Number.NaN, '90', null, true])('cannot be %s, for the service or for a plan', (days) => {
    const channels = { email: recordingProvider() }
    const retention = { [kind]: days }
    const refused = (option: string) =>
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining(`"${option}"`),
      })
    expect(() => createNotifier({ channels, retention })).toThrow(refused(`retention.${kind}`))
    const plans = { pro: { ...UNLIMITED, retention } }
    expect(() => createNotifier({ channels, plans })).toThrow(refused(`plans.pro.retention.${kind}`))
  })
})

it('names an option that does not exist', () => {
  const channels = { email: recordingProvider() }
  const retention = { days: 90 } as object
  expect(() => createNotifier({ channels, retention })).toThrow(
    '"retention.days" is not an option: use retention.contentDays, retention.logDays, retention.auditDays.',
  )
})

describe('on its own', () => {
  /**
   * A run over two organizations, and three steps of what expires by itself, that stops at the step that is given.
   *
   * @param failing the steps that fail
   */
  function stoppedAt(last: number, failing?: string) {
    const clock = fakeClock()
    const steps: string[] = []
    const errors: unknown[] = []
    let go = (): void => {}
    const step = async <Answer>(name: string, answer: Answer): Promise<Answer> => {
      if (steps.push(name) === last) await new Promise<void>((resolve) => (go = resolve))
      if (name === failing) throw new Error(`No ${name}.`)
      return answer
    }
    const items = ['org_a', 'org_b'].map((id) => ({
      id,
      value: { retention: null, plan: null, deleting: null },
    }))
    const storage = {
      records: {
        list: () => step('list', { items, nextCursor: null }),
        removeOld: (_kind: unknown, { organizationId }: { readonly organizationId: string | null }) =>
          step(organizationId === null ? 'old' : `old of ${organizationId}`, 0),
      },
      expire: ({ what: { organizationId } }: ExpireRequest) =>
        organizationId === undefined
          ? step('rest', {
              removed: { idempotency: 1 },
              unmatched: [],
              next: steps.length < 8 ? 'more' : null,
            })
          : step(organizationId, { removed: { notifications: 1 }, unmatched: [], next: null }),
    } as unknown as Storage
    const retention = createRetention({
      storage,
      clock,
      logger: silentLogger(),
      retention: RETENTION_DAYS,
      positions: createRecordStores(storage.records, () => null).of(contentPositionKind),
      plans: { choose: () => ({ name: 'unlimited', plan: UNLIMITED }) },
      expiring: [{ kind: usedTokenKind, after: { ms: 1 }, ofOrganizations: true }],
      expire: async () => {},
      onError: (error) => void errors.push(error),
    })
    return { clock, steps, errors, retention, go: () => go() }
  }
  const OF_EACH = ['org_a', 'old of org_a', 'org_b', 'old of org_b']
  const ALL = ['list', ...OF_EACH, '*', 'rest', 'rest', 'rest', 'old']

  it('takes every step', async () => {
    const { clock, steps, retention } = stoppedAt(0)
    retention.start()
    await clock.advance(10 * 60_000)
    expect(steps).toEqual(ALL)
    await retention.stop()
  })

  it.each([
    ['org_a', ALL],
    ['old of org_a', ALL],
    ['*', ALL],
    ['rest', ['list', ...OF_EACH, '*', 'rest', 'old']],
    ['old', ALL],
  ])('takes the other steps after an error in %s', async (failing, expected) => {
    const { clock, steps, errors, retention } = stoppedAt(0, failing)
    retention.start()
    await clock.advance(10 * 60_000)
    expect(steps).toEqual(expected)
    expect(errors).toEqual([new Error(`No ${failing}.`)])
    await retention.stop()
  })

  it.each(ALL.map((name, index) => [name, index + 1] as const))(
    'its stop during %s (step %i) waits for that and takes no other',
    async (_name, last) => {
      const { clock, steps, retention, go } = stoppedAt(last)
      retention.start()
      await clock.until(() => steps.length === last)
      let over = false
      const stopped = retention.stop().then(() => {
        over = true
      })
      await clock.advance(0)
      expect(over).toBe(false)
      go()
      await stopped
      const at = clock.monotonic()
      await expect(clock.until(() => false)).rejects.toThrow('Not reached')
      expect([steps, clock.monotonic()]).toEqual([ALL.slice(0, last), at])
    },
  )

  it('leaves no timer where it is stopped before its first run, and does not start after that', async () => {
    const { clock, retention } = stoppedAt(0)
    retention.start()
    await retention.stop()
    retention.start()
    await expect(clock.until(() => false)).rejects.toThrow('Not reached')
    expect(clock.monotonic()).toBe(0)
  })
})
