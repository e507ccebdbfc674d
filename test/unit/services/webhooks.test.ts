import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { PostResult } from '../../../src/domain/http-answer.ts'
import { createIdGenerator } from '../../../src/domain/ids.ts'
import { UNLIMITED } from '../../../src/domain/plans.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import { silentLogger } from '../../../src/memory/silent-logger.ts'
import { webhookSigner } from '../../../src/outgoing/webhook-signer.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { PostRequest } from '../../../src/ports/outgoing.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import { createDeadline } from '../../../src/services/deadline.ts'
import { createEngine } from '../../../src/services/delivery/engine.ts'
import { createPlanFinder } from '../../../src/services/limits/plan-of.ts'
import { createOrganizations } from '../../../src/services/organizations/organizations.ts'
import { createProcessor } from '../../../src/services/processor.ts'
import { createSecretBox, newSecret } from '../../../src/services/secrets.ts'
import { createCompiledTemplates } from '../../../src/services/templates/compiled-templates.ts'
import { ofOrganization, type Tenant } from '../../../src/services/tenant.ts'
import { createWebhookEndpoints } from '../../../src/services/webhooks/webhook-endpoints.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { accept, claim, deliver, ended, note, notes } from '../../../src/testing/storage/fixtures.ts'
import { engineParts } from '../../support/engine-parts.ts'
import { KINDS } from '../../support/kinds.ts'
import { observation } from '../../support/observation.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const URL = 'https://example.com/hook'
const AWAY = new Error('The storage is away.')
const directory = temporaryDirectory()
let files = 0

const answered = (status: number): PostResult => ({
  kind: 'answered',
  status,
  headers: {},
  body: `said ${status}`,
  durationMs: 1.4,
})

/** What may be told of a request. */
function sentOf(post: PostRequest | undefined): object | undefined {
  if (post === undefined) return undefined
  const { 'webhook-signature': signature, ...headers } = post.headers
  expect(signature).toMatch(/^v1,/)
  return { url: post.url, headers }
}

describe.each(['memory', 'sqlite'])('webhook endpoints on %s', (kind) => {
  /** The service and an engine that delivers events; notifications are taken through by `announce`. */
  async function start(wrap: (inner: Storage, clock: Clock) => Partial<Storage> = () => ({})) {
    const clock = fakeClock()
    files += 1
    const inner: Storage =
      kind === 'memory'
        ? memoryStorage({ clock })
        : sqlite({ file: join(directory, `${files}.db`), synchronous: 'normal', clock })
    const storage: Storage = { ...inner, ...wrap(inner, clock) }
    await storage.start()
    const ids = createIdGenerator({
      now: clock.now,
      randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    })
    const plans = createPlanFinder(storage, { free: UNLIMITED }, clock)
    const posts: PostRequest[] = []
    const world = { answer: (_request: PostRequest): PostResult | Promise<PostResult> => answered(200) }
    const box = createSecretBox([newSecret()])
    const parts = {
      storage,
      ids,
      organizations: createOrganizations(storage, ids, plans, { canTrack: false }, clock, () => {}),
      signer: webhookSigner(),
      clock,
      ...observation(),
      box: () => box,
      outgoing: {
        async post(request: PostRequest) {
          posts.push(request)
          return world.answer(request)
        },
        refuses: (url: string) => (url.includes('127.0.0.1') ? 'A private address.' : null),
        async close() {},
      },
    }
    const processor = createProcessor(clock)
    const engine = createEngine({
      ...parts,
      ...engineParts(recordingProvider(), clock),
      processor,
      compiled: createCompiledTemplates(storage, processor, KINDS),
      logger: silentLogger(),
      leaseMs: 60_000,
      pollMs: DAY,
      random: () => 0.5,
      announce: () => {},
      failed: (error) => {
        if (error !== AWAY) throw error
      },
    })
    engine.start()
    onTestFinished(async () => {
      await engine.stop(createDeadline(0, clock))
      await storage.stop()
    })
    const scoped = createWebhookEndpoints({ ...parts, wake: engine.wake })
    const webhooks = ofOrganization<Tenant['webhooks']>(scoped, 'org_default')
    async function announce(): Promise<void> {
      await accept(storage, [note()])
      await deliver(storage)
      engine.wake()
      await clock.advance(0)
    }
    return { clock, storage, scoped, webhooks, posts, world, announce, signer: parts.signer }
  }

  it.each([
    ['https://example.com/hook?a=%20b&c=d#e', undefined],
    ['https://example.com', undefined],
    ['https://example.com/a/../b', 'https://example.com/b'],
    ['HTTPS://Example.COM:443/Hook', 'https://example.com/Hook'],
    ['https:\\\\example.com\\hook', 'https://example.com/hook'],
    ['https:example.com/ä', 'https://example.com/%C3%A4'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://0x8.8.8.8/', 'https://8.8.8.8/'],
  ])('are kept at %s as they are judged and called', async (given, kept = given) => {
    const { webhooks, posts, announce } = await start()
    const { id, url } = await webhooks.create({ url: given })
    const other = await webhooks.create({ url: URL })
    expect([url, (await webhooks.update(other.id, { url: given })).url]).toEqual([kept, kept])
    expect((await webhooks.get(id)).url).toBe(kept)
    await announce()
    expect(posts.map((post) => post.url)).toEqual([kept, kept])
  })

  it.each([
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa\nmple.com/',
    'https://example.com/\tx',
    'https://example.com/\u0000',
    'https://example.com/\u00a0',
    'https://example.com/\ud800',
    `https://example.com/${'ä'.repeat(1_000)}`,
  ])('are not registered at %j', async (url) => {
    const { webhooks } = await start()
    const { id } = await webhooks.create({ url: URL })
    const refused = { code: 'invalid_parameter', details: { field: 'url' } }
    await expect(webhooks.create({ url })).rejects.toMatchObject(refused)
    await expect(webhooks.update(id, { url })).rejects.toMatchObject(refused)
  })

  it('that hang hold up only themselves, also where they are all but one of their organization', async () => {
    const { clock, webhooks, posts, world, announce } = await start()
    for (let hanging = 0; hanging < 49; hanging += 1)
      await webhooks.create({ url: `https://example.com/${hanging}` })
    await webhooks.create({ url: URL })
    const timeout = {
      kind: 'failed',
      reason: 'timeout',
      requestSent: true,
      message: '',
      durationMs: 5_000,
    } as const
    world.answer = ({ url }) =>
      url === URL ? answered(200) : new Promise((resolve) => clock.timer(5_000, () => resolve(timeout)))
    for (let sent = 1; sent <= 30; sent += 1) {
      await announce()
      await clock.advance(100)
      expect(posts.filter(({ url }) => url === URL)).toHaveLength(sent)
    }
    expect(clock.monotonic()).toBeLessThan(5_000)
    world.answer = () => answered(200)
    await clock.advance(5_000)
  })

  it('are at most fifty of an organization, those that are disabled too', async () => {
    const { webhooks } = await start()
    const created = await Promise.all(Array.from({ length: 50 }, () => webhooks.create({ url: URL })))
    await webhooks.update(created[0]?.id ?? '', { status: 'disabled' })
    await expect(webhooks.create({ url: URL })).rejects.toMatchObject({
      code: 'endpoint_limit_reached',
      status: 409,
      details: { limit: 50 },
    })
    await webhooks.delete(created[1]?.id ?? '')
    await webhooks.create({ url: URL })
  })

  it('know each event once, however often it is given', async () => {
    const { webhooks } = await start()
    const given = ['notification.sent', 'notification.failed', 'notification.sent'] as const
    const once = ['notification.sent', 'notification.failed']
    const { id, events } = await webhooks.create({ url: URL, events: given })
    expect(events).toEqual(once)
    expect((await webhooks.update(id, { events: [...given].reverse() })).events).toEqual(once)
  })

  it('change, and are guarded like new ones', async () => {
    const { webhooks, posts, announce } = await start()
    const { secret, ...hook } = await webhooks.create({ url: URL })
    const url = 'https://example.com/b'
    expect(await webhooks.update(hook.id, { url, successStatus: '2xx' })).toEqual({
      ...hook,
      url,
      successStatus: '2xx',
    })
    await expect(webhooks.update(hook.id, { url: 'https://127.0.0.1/' })).rejects.toMatchObject({
      code: 'blocked_address',
      details: { field: 'url' },
    })
    for (const change of [{ events: [] }, { events: ['x'] }, { status: 'gone' }, { url: '' }, { url: 1 }]) {
      await expect(webhooks.update(hook.id, change as never)).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
    }
    expect((await webhooks.get(hook.id)).url).toBe(url)
    await announce()
    expect(posts.map((post) => post.url)).toEqual([url])
    expect(secret).toMatch(/^whsec_/)
  })

  it('hold what comes while they are disabled, until a redelivery', async () => {
    const { webhooks, posts, announce, clock } = await start()
    const { id } = await webhooks.create({ url: URL })
    expect(await webhooks.update(id, { status: 'disabled' })).toMatchObject({
      status: 'disabled',
      disabledReason: 'manual',
    })
    await announce()
    await clock.advance(1_000)
    const since = new Date(clock.now()).toISOString()
    await announce()
    await expect(webhooks.redeliver(id, { since })).rejects.toMatchObject({ code: 'endpoint_disabled' })
    expect(await webhooks.update(id, { status: 'active' })).toMatchObject({
      status: 'active',
      disabledReason: null,
    })
    await clock.advance(DAY)
    expect(posts).toEqual([])
    expect(await webhooks.redeliver(id, { since })).toEqual({ redelivered: 1 })
    await clock.advance(0)
    expect(posts).toHaveLength(1)
    expect(await webhooks.redeliver(id, { since: '2020-01-01T00:00:00Z' })).toEqual({ redelivered: 1 })
    await clock.advance(0)
    const { items } = await webhooks.deliveries(id)
    expect(items.map(({ status }) => status)).toEqual(['delivered', 'delivered'])
    await expect(webhooks.redeliver(id, { since: 'yesterday' })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    await expect(webhooks.redeliver(id, {} as never)).rejects.toMatchObject({
      code: 'missing_required_field',
    })
  })

  it('that have moved while the old address said it was gone stay, and get that event', async () => {
    const { webhooks, posts, announce, world, clock } = await start()
    const { id } = await webhooks.create({ url: URL })
    const moved = 'https://example.com/moved'
    let said = (_: PostResult): void => {}
    const late = new Promise<PostResult>((resolve) => {
      said = resolve
    })
    world.answer = ({ url }) => (url === URL ? late : answered(200))
    await announce()
    await webhooks.update(id, { url: moved })
    said(answered(410))
    await clock.advance(10_000)
    expect(await webhooks.get(id)).toMatchObject({ url: moved, status: 'active', failingSince: null })
    expect(posts.map(({ url }) => url)).toEqual([URL, moved])
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([{ status: 'delivered', attempts: [{ status: 410 }, { status: 200 }] }])
  })

  it('that have moved do not fail by what could not reach the old address', async () => {
    const { webhooks, announce, world, clock } = await start()
    const { id } = await webhooks.create({ url: URL })
    let said = (_: PostResult): void => {}
    const late = new Promise<PostResult>((resolve) => {
      said = resolve
    })
    world.answer = ({ url }) => (url === URL ? late : answered(200))
    await announce()
    await webhooks.update(id, { url: 'https://example.com/moved' })
    said({ kind: 'failed', reason: 'unreachable', requestSent: false, message: 'refused', durationMs: 1 })
    await clock.advance(1_000)
    expect(await webhooks.get(id)).toMatchObject({ failingSince: null })
  })

  it('that are gone come back when enabled, and a redelivery brings what met that under its old id', async () => {
    const { webhooks, posts, announce, world, clock } = await start()
    const { id } = await webhooks.create({ url: URL })
    world.answer = () => answered(410)
    await announce()
    await announce()
    expect(await webhooks.get(id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
    expect(posts).toHaveLength(1)
    world.answer = () => answered(200)
    await webhooks.update(id, { status: 'active' })
    expect(await webhooks.redeliver(id, { since: new Date(0) })).toEqual({ redelivered: 2 })
    await clock.advance(0)
    expect(posts[1]?.headers['webhook-id']).toBe(posts[0]?.headers['webhook-id'])
    expect(posts).toHaveLength(3)
    const { items } = await webhooks.deliveries(id)
    expect(items[1]?.attempts).toMatchObject([
      { attempt: 1, status: 410, response: 'said 410', durationMs: 1, succeeded: false },
      { attempt: 1, status: 200, response: 'said 200', durationMs: 1, succeeded: true },
    ])
  })

  it('that fail for five days are disabled when an event is given up, and a redelivery brings everything', async () => {
    const { webhooks, posts, announce, world, clock } = await start()
    const { id } = await webhooks.create({ url: URL })
    world.answer = () => answered(500)
    let sent = 0
    // An event takes 28 hours of attempts: the first one that is given up after five days is that of the fourth day.
    for (let day = 0; day < 5; day += 1) {
      await announce()
      sent += 1
      await clock.advance(DAY)
    }
    expect(await webhooks.get(id)).toMatchObject({ status: 'active', disabledReason: null })
    await clock.advance(6 * HOUR)
    expect(await webhooks.get(id)).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    const attempts = posts.length
    await announce()
    sent += 1
    await clock.advance(7 * DAY)
    expect(posts).toHaveLength(attempts)

    world.answer = () => answered(200)
    await webhooks.update(id, { status: 'active' })
    expect(await webhooks.redeliver(id, { since: new Date(0) })).toEqual({ redelivered: sent })
    await clock.advance(0)
    const { items } = await webhooks.deliveries(id)
    expect(items.map(({ status }) => status)).toEqual(Array.from({ length: sent }, () => 'delivered'))
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(sent)
    expect(await webhooks.get(id)).toMatchObject({ status: 'active', failingSince: null })
  })

  it('let others work between the steps of a long redelivery', async () => {
    const { webhooks, storage } = await start()
    const { id } = await webhooks.create({ url: URL })
    await webhooks.update(id, { status: 'disabled' })
    await accept(storage, notes(2_001))
    const jobs = await claim(storage, 2_001)
    await storage.settle(jobs.map((job) => ended(job)))
    await webhooks.update(id, { status: 'active' })
    let turns = 0
    const count = (): void => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    expect(await webhooks.redeliver(id, { since: new Date(0) })).toEqual({ redelivered: 2_001 })
    clearImmediate(timer)
    expect(turns).toBeGreaterThanOrEqual(2)
  })

  it('show every delivery with its attempts, filtered and in pages', async () => {
    const { webhooks, posts, announce, world, clock } = await start()
    const { id } = await webhooks.create({ url: URL })
    await announce()
    world.answer = () => ({
      kind: 'failed',
      reason: 'timeout',
      requestSent: true,
      message: 'No answer within 5000 ms.',
      durationMs: 5_000,
    })
    await announce()
    const { items, ...page } = await webhooks.deliveries(id, { status: 'pending' })
    expect(page).toMatchObject({ limit: 50, hasMore: false, nextCursor: null })
    expect(items).toEqual([
      {
        eventId: posts[1]?.headers['webhook-id'],
        event: 'notification.sent',
        status: 'pending',
        payload: posts[1]?.body,
        createdAt: new Date(clock.now()).toISOString(),
        attempts: [
          {
            attempt: 1,
            timestamp: new Date(clock.now()).toISOString(),
            status: null,
            response: 'No answer within 5000 ms.',
            durationMs: 5_000,
            succeeded: false,
            request: sentOf(posts[1]),
          },
        ],
      },
    ])
    expect(posts[1]?.maxResponseBytes).toBe(2_048)
    expect((await webhooks.deliveries(id, { limit: 1 })).hasMore).toBe(true)
    await expect(webhooks.deliveries(id, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_parameter' })
  })

  it('sign with a new secret and the older ones until these end, five at most', async () => {
    const { webhooks, posts, announce, signer, clock } = await start()
    const { id, secret: first } = await webhooks.create({ url: URL })
    const signedWith = (secrets: string[]): string | undefined => {
      const { headers, body } = posts.at(-1) as PostRequest
      const at = Number(headers['webhook-timestamp'])
      return signer.headers(headers['webhook-id'] ?? '', at, String(body), secrets)['webhook-signature']
    }
    const signature = (): string | undefined => posts.at(-1)?.headers['webhook-signature']

    const { secret: second, ...shown } = await webhooks.rotateSecret(id)
    expect(shown).toEqual(await webhooks.get(id))
    expect(second).not.toBe(first)
    await announce()
    expect(signature()).toBe(signedWith([second, first]))
    await clock.advance(DAY - 1)
    await announce()
    expect(signature()).toBe(signedWith([second, first]))
    await clock.advance(1)
    await announce()
    expect(signature()).toBe(signedWith([second]))

    const { secret: third } = await webhooks.rotateSecret(id, { overlapMs: 0 })
    await announce()
    expect(signature()).toBe(signedWith([third]))
    for (let turn = 0; turn < 6; turn += 1) await webhooks.rotateSecret(id)
    await announce()
    expect(signature()?.split(' ')).toHaveLength(5)
    for (const overlapMs of [-1, 1.5, 31 * DAY, Number.NaN])
      await expect(webhooks.rotateSecret(id, { overlapMs })).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
  })

  it.each([
    ['by its claim', false],
    ['after a claim that leaves it to be begun', true],
  ])('have each attempt recorded once, %s', async (_when, leaves) => {
    const begun: string[] = []
    const { webhooks, announce, posts } = await start((inner) => ({
      claim(request) {
        if (!leaves || !('lanes' in request)) return inner.claim(request)
        return inner.claim({ ...request, lanes: request.lanes.map(({ lane, free }) => ({ lane, free })) })
      },
      startAttempts(refs) {
        begun.push(...refs.map(({ provider }) => provider))
        return inner.startAttempts(refs)
      },
    }))
    const { id } = await webhooks.create({ url: URL, events: ['notification.sent'] })
    await announce()
    expect(posts).toHaveLength(1)
    expect(begun).toEqual(leaves ? ['smtp', id] : ['smtp'])
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([{ status: 'delivered', attempts: [{ attempt: 1 }] }])
  })

  it('are not said to have been asked by a claim that came late and could not be renewed', async () => {
    const faults = { renew: 1, release: 1 }
    const { webhooks, announce, posts, clock } = await start((inner, clock) => ({
      async claim(request) {
        const answer = await inner.claim(request)
        if (faults.renew > 0 && answer.jobs.some(({ begun }) => begun))
          await new Promise<void>((resolve) => clock.timer(25_000, resolve))
        return answer
      },
      async renew(refs, leaseMs) {
        faults.renew -= 1
        if (faults.renew >= 0) throw AWAY
        return inner.renew(refs, leaseMs)
      },
      async release(refs) {
        faults.release -= 1
        if (faults.release >= 0) throw AWAY
        return inner.release(refs)
      },
    }))
    const { id } = await webhooks.create({ url: URL, events: ['notification.sent'] })
    await announce()
    await clock.advance(120_000)
    expect(posts).toHaveLength(1)
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([{ status: 'delivered', attempts: [{ attempt: 1, succeeded: true }] }])
    expect(items[0]?.attempts).toHaveLength(1)
    expect(faults).toEqual({ renew: 0, release: -1 })
  })

  it('are tested with a signed example, disabled ones too, which leaves no trace', async () => {
    const { webhooks, posts, world, signer } = await start()
    const { id, secret } = await webhooks.create({ url: URL })
    expect(await webhooks.test(id)).toEqual({
      succeeded: true,
      status: 200,
      response: 'said 200',
      durationMs: 1,
      request: sentOf(posts[0]),
    })
    const { headers, body } = posts[0] as PostRequest
    expect(JSON.parse(String(body))).toMatchObject({
      event: 'webhook.test',
      data: { organizationId: 'org_default' },
    })
    const eventId = headers['webhook-id'] ?? ''
    expect(headers).toMatchObject(
      signer.headers(eventId, Number(headers['webhook-timestamp']), String(body), [secret]),
    )
    await webhooks.update(id, { status: 'disabled' })
    world.answer = () => answered(410)
    expect(await webhooks.test(id)).toMatchObject({ succeeded: false, status: 410 })
    expect(posts[1]?.headers['webhook-id']).not.toBe(eventId)
    expect(await webhooks.get(id)).toMatchObject({ disabledReason: 'manual' })
    expect((await webhooks.deliveries(id)).items).toEqual([])
  })

  it('are shown to their own organization only', async () => {
    const { scoped, webhooks, storage } = await start()
    await storage.organizations.create({ id: 'org_b', name: 'B', plan: null, smsCountries: null })
    const { id } = await webhooks.create({ url: URL })
    const calls = (target: string, organizationId: string) => [
      scoped.update(organizationId, target, { status: 'disabled' }),
      scoped.rotateSecret(organizationId, target),
      scoped.test(organizationId, target),
      scoped.deliveries(organizationId, target),
      scoped.redeliver(organizationId, target, { since: new Date(0) }),
    ]
    for (const foreign of calls(id, 'org_b'))
      await expect(foreign).rejects.toMatchObject({ code: 'organization_mismatch' })
    for (const unknown of calls('wh_unknown', 'org_default'))
      await expect(unknown).rejects.toMatchObject({ code: 'not_found', status: 404 })
    expect((await webhooks.get(id)).status).toBe('active')
  })
})
