import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Plan, perSecondPlans, UNLIMITED } from '../../../src/core/tenancy/plans.ts'
import { servedNotifier } from '../../../src/served-notifier.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const ORG = 'org_small'
const MINUTE = 60_000
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' }

let host: Host
let clock: FakeClock
let auth: { authorization: string }
afterEach(() => host.close())

/** A host in virtual time, with an organization on a plan. */
async function start(plan: Partial<Plan> | HostOptions['plans'], options: HostOptions = {}): Promise<void> {
  clock = fakeClock()
  const isPlans = plan !== undefined && 'free' in plan
  host = await startHost({
    clock,
    overuse: false,
    ...options,
    plans: isPlans ? (plan as HostOptions['plans']) : { free: { ...UNLIMITED, ...(plan as Partial<Plan>) } },
  })
  await host.notifier.organizations.create({ id: ORG, name: 'Small', plan: 'free' })
  auth = await host.key('Full Access', ORG)
}

const api = (options: Call): Promise<Answer> => host.call({ headers: auth, ...options })
const list = (): Promise<Answer> => api({ path: '/v1/notifications?limit=1' })
const send = (): Promise<Answer> => api({ method: 'POST', path: '/v1/notify', body: mail })
const resource = ({ headers }: Answer): unknown => headers['x-ratelimit-resource']

/** SPEC.md "Rules" 11. Gives the seconds to wait. */
function refusal(answer: Answer, expected: string, code = 'rate_limit_exceeded'): number {
  const wait = Number(answer.headers['retry-after'])
  expect([answer.status, codeOf(answer), resource(answer)]).toEqual([429, code, expected])
  expect(answer.headers['x-ratelimit-remaining']).toBe('0')
  expect(answer.json).toMatchObject({ error: { retry_after: wait } })
  expect(Number.isInteger(wait) && wait >= 1).toBe(true)
  return wait
}

/** Waiting Retry-After is enough; a second less is not. */
async function expectExact(ask: () => Promise<Answer>, wait: number, ok: number): Promise<void> {
  if (wait > 1) {
    await clock.advance((wait - 1) * 1000)
    expect((await ask()).status).toBe(429)
  }
  await clock.advance(wait > 1 ? 1000 : wait * 1000)
  expect((await ask()).status).toBe(ok)
}

/** Gaps between requests in milliseconds; the same in every run. */
function* gaps(seed: number): Generator<number> {
  let state = seed
  for (;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    yield state % 3 === 0 ? 0 : state % 4_000
  }
}

describe('Retry-After is exact', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('for requests, whatever came before (trace %i)', async (seed) => {
    await start({ requests: { limit: 5, windowMs: MINUTE } })
    let refused = 0
    for (const gap of gaps(seed)) {
      await clock.advance(gap)
      const answer = await list()
      if (answer.status === 200) continue
      await expectExact(list, refusal(answer, 'requests'), 200)
      refused += 1
      if (refused === 4) break
    }
  })

  it('for notifications per hour', async () => {
    await start({ notificationsPerHour: 3 })
    for (const gap of [0, 1_500, 700_000]) {
      await clock.advance(gap)
      expect((await send()).status).toBe(201)
    }
    for (let round = 0; round < 3; round += 1) {
      await expectExact(send, refusal(await send(), 'hourly_notifications'), 201)
    }
  })

  it('for the month', async () => {
    const time = fakeClock(Date.UTC(2026, 11, 31, 23, 58, 30, 250))
    await start({ notificationsPerMonth: 1 }, { clock: time, storage: inMemory(time) })
    clock = time
    expect((await send()).status).toBe(201)
    const refused = await send()
    const wait = refusal(refused, 'monthly_notifications', 'notification_quota_exceeded')
    expect(wait).toBe(90)
    expect(Number(refused.headers['x-ratelimit-reset'])).toBe(Date.UTC(2027, 0) / 1000)
    await expectExact(send, wait, 201)
  })

  it.each([600_000, MINUTE])('for a restriction that is not prolonged (%i ms)', async (windowMs) => {
    await start(
      { requests: { limit: 2, windowMs: 1_000 } },
      { overuse: { factor: 5, windowMs, restrictMs: 300_000 } },
    )
    let refused = 0
    let answer = await list()
    while (resource(answer) !== 'account' && refused < 50) {
      answer = await list()
      if (answer.status === 429) refused += 1
    }
    // Ten refusals are five times the limit; the eleventh restricts, and the next request meets it.
    expect(refused).toBe(12)
    expect(refusal(answer, 'account')).toBe(300)
    const limits = await host.notifier.organization(ORG).limits.get()
    expect(limits.restriction).toEqual({ until: new Date(clock.now() + 300_000).toISOString() })
    await clock.advance(100_000)
    const later = refusal(await list(), 'account')
    expect(later).toBe(200)
    await expectExact(list, later, 200)
  })
})

it('usage is told as it is: none, some, and no more than the limit in a burst', async () => {
  await start({ requests: { limit: 10, windowMs: MINUTE }, notificationsPerHour: 3 })
  const usage = async () => (await host.notifier.organization(ORG).limits.get()).limits
  const inMs = (ms: number) => new Date(clock.now() + ms).toISOString()
  const none = { used: 0, resetAt: inMs(0) }
  expect(await usage()).toMatchObject({
    requests: { ...none, limit: 10, remaining: 10 },
    notificationsPerHour: { ...none, limit: 3, remaining: 3 },
  })
  for (const [count, used] of [
    [1, 1],
    [8, 9],
    [1, 10],
    [1, 10],
    [1, 10],
    [1, 10],
  ] as const) {
    for (let request = 0; request < count; request += 1) await list()
    expect((await usage()).requests).toMatchObject({ used, remaining: 10 - used, resetAt: inMs(MINUTE) })
  }
})

describe('plans', () => {
  it('per second (the other table) have no burst', async () => {
    await start(perSecondPlans)
    for (let index = 0; index < 10; index += 1) expect((await list()).status).toBe(200)
    expect(refusal(await list(), 'requests')).toBe(1)
    await clock.advance(999)
    expect((await list()).status).toBe(429)
    await clock.advance(1)
    expect((await list()).status).toBe(200)
  })

  it('of the application have any window', async () => {
    await start({ requests: { limit: 3, windowMs: 5_000 } })
    for (let index = 0; index < 3; index += 1) expect((await list()).status).toBe(200)
    await expectExact(list, refusal(await list(), 'requests'), 200)
  })

  it('are shown with their use', async () => {
    await start({
      requests: { limit: 10, windowMs: MINUTE },
      notificationsPerHour: 100,
      notificationsPerMonth: 50,
    })
    expect((await send()).status).toBe(201)
    const { json } = await api({ path: '/v1/account/limits' })
    expect(json).toMatchObject({
      plan: 'free',
      limits: {
        requests: { limit: 10, used: 2, remaining: 8 },
        notificationsPerHour: { limit: 100, used: 1, remaining: 99 },
        notificationsPerMonth: { limit: 50, used: 1, remaining: 49 },
      },
      restriction: null,
    })
  })
})

it('every answer carries the rate headers, whatever its status', async () => {
  await start({ requests: { limit: 100, windowMs: MINUTE } })
  const answers: [status: number, options: Call][] = [
    [200, { path: '/v1/templates' }],
    [200, { method: 'HEAD', path: '/v1/templates' }],
    [200, { path: '/health' }],
    [201, { method: 'POST', path: '/v1/notify', body: mail }],
    [400, { method: 'POST', path: '/v1/notify', body: '{' }],
    [400, { path: '/v1/templates?limit=x' }],
    [401, { path: '/v1/templates', headers: {} }],
    [403, { path: '/v1/templates?orgId=org_default' }],
    [404, { path: '/v1/nowhere' }],
    [404, { path: '/v1/notifications/notif_1' }],
    [405, { method: 'DELETE', path: '/v1/notify' }],
    [413, { method: 'POST', path: '/v1/notify', body: { ...mail, x: 'x'.repeat(1_100_000) } }],
    [
      415,
      { method: 'POST', path: '/v1/notify', headers: { ...auth, 'content-type': 'text/plain' }, body: 'x' },
    ],
    [422, { method: 'POST', path: '/v1/notify', body: { ...mail, to: 'x' } }],
  ]
  for (const [status, options] of answers) {
    const answer = await api(options)
    expect(answer.status, options.path).toBe(status)
    expect(answer.headers, options.path).toMatchObject({
      'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
      'x-ratelimit-resource': expect.stringMatching(/./),
    })
  }
})

it('every response of an organization without limits says so in numbers', async () => {
  await start({})
  for (const path of ['/v1/notifications', '/v1/nowhere']) {
    const answer = await api({ path })
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': '2147483647',
      'x-ratelimit-remaining': '2147483647',
      'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
      'x-ratelimit-resource': 'unlimited',
    })
  }
})

describe('hundreds of parallel requests', () => {
  it('never pass the ceiling: the limit and its burst, to the request', async () => {
    await start({ requests: { limit: 100, windowMs: MINUTE } })
    const answers = await Promise.all(Array.from({ length: 300 }, send))
    const sent = answers.filter(({ status }) => status === 201)
    expect(sent).toHaveLength(120)
    for (const answer of answers) if (answer.status !== 201) refusal(answer, 'requests')
    const { limits } = await host.notifier.organization(ORG).limits.get()
    expect(limits.requests).toMatchObject({ remaining: 0 })
    expect(new Set(sent.map(({ json }) => json?.id)).size).toBe(120)
  })

  it.each([
    ['hour', { notificationsPerHour: 50, notificationsPerMonth: 70 }, 'rate_limit_exceeded'],
    ['month', { notificationsPerHour: 300, notificationsPerMonth: 50 }, 'notification_quota_exceeded'],
  ] as const)('never pass the %s', async (_name, plan, code) => {
    await start(plan)
    const answers = await Promise.all(Array.from({ length: 200 }, send))
    const count = (code: unknown): number => answers.filter((answer) => codeOf(answer) === code).length
    expect([count(undefined), count(code)]).toEqual([50, 150])
    const { items } = await host.notifier.organization(ORG).notifications.list({ limit: 100 })
    expect(items).toHaveLength(50)
    const { limits } = await host.notifier.organization(ORG).limits.get()
    expect([limits.notificationsPerHour?.used, limits.notificationsPerMonth?.used]).toEqual([50, 50])
  })
})

describe('a batch counts its items', () => {
  const batch = (size: number): Promise<Answer> =>
    api({ method: 'POST', path: '/v1/notifications/batch', body: { notifications: Array(size).fill(mail) } })

  it('against the hour: what is over it fails singly, in order', async () => {
    await start({ notificationsPerHour: 5, requests: { limit: 100, windowMs: MINUTE } })
    expect((await batch(3)).json).toMatchObject({ accepted: 3, rejected: 0 })
    const over = await batch(4)
    expect([over.status, over.json?.accepted, over.json?.rejected]).toEqual([201, 2, 2])
    expect(over.json?.items).toMatchObject([
      { status: 'queued' },
      { status: 'queued' },
      { error: { code: 'rate_limit_exceeded' } },
      { error: { code: 'rate_limit_exceeded' } },
    ])
    refusal(await send(), 'hourly_notifications')
    // As a request it is one.
    expect((await list()).headers['x-ratelimit-remaining']).toBe('96')
  })

  it('and refused items cost nothing', async () => {
    await start({ notificationsPerHour: 2 })
    const notifications = [{ ...mail, to: 'nobody' }, mail, { ...mail, to: 'x' }, mail]
    const { json } = await api({ method: 'POST', path: '/v1/notifications/batch', body: { notifications } })
    expect(json).toMatchObject({ accepted: 2, rejected: 2 })
  })
})

describe('concurrency', () => {
  /** A request that stays open in the middle of its body. */
  function hold() {
    const body = new PassThrough()
    body.write('{')
    return { body, answer: api({ method: 'POST', path: '/v1/notify', body }) }
  }

  it('gives every slot back exactly once, also when clients abort', async () => {
    await start({ concurrentRequests: 5 })
    const counts = { admitted: 0, released: 0 }
    const { limits } = servedNotifier(host.notifier)
    const admit = limits.admit
    vi.spyOn(limits, 'admit').mockImplementation(async (...args) => {
      const admission = await admit(...args)
      counts.admitted += 1
      return {
        ...admission,
        release() {
          counts.released += 1
          return admission.release()
        },
      }
    })
    for (let round = 0; round < 3; round += 1) {
      const before = counts.admitted
      const held = Array.from({ length: 5 }, hold)
      await expect.poll(() => counts.admitted).toBe(before + 5)
      // A slot given back twice in an earlier round would let one of these in.
      for (let again = 0; again < 5; again += 1) refusal(await list(), 'concurrency')
      for (const { body } of held) body.destroy()
      await Promise.all(held.map(({ answer }) => answer))
      await expect.poll(() => counts.released).toBe(counts.admitted)
    }
    const answers = await Promise.all(Array.from({ length: 200 }, send))
    for (const answer of answers) if (answer.status !== 201) refusal(answer, 'concurrency')
    expect(answers.some((answer) => answer.status === 201)).toBe(true)
    expect((await list()).status).toBe(200)
    await expect.poll(() => counts.released).toBe(counts.admitted)
  })
})

describe('limits of endpoints', () => {
  const endpoints = [
    ['listLogs', 500, 'logs.list', '/v1/logs?limit=1', `/admin/logs?limit=1&orgId=${ORG}`],
    [
      'listTemplates',
      1_000,
      'templates.list',
      '/v1/templates?limit=1',
      `/admin/templates?limit=1&orgId=${ORG}`,
    ],
  ] as const

  it.each(endpoints)(
    '%s: %i a minute, shared by both path families, in place of the plan’s',
    async (_, limit, name, ...paths) => {
      await start({ requests: { limit: 3, windowMs: MINUTE } })
      const burst = limit * 1.2
      for (let done = 0; done < burst; done += 50) {
        const some = Array.from({ length: Math.min(50, burst - done) }, (_item, index) =>
          api({ path: paths[index % 2] ?? '' }),
        )
        for (const answer of await Promise.all(some))
          expect([answer.status, resource(answer)]).toEqual([200, name])
      }
      for (const path of paths) refusal(await api({ path }), name)
      // Others go on by the plan.
      const other = await list()
      expect([other.status, resource(other), other.headers['x-ratelimit-remaining']]).toEqual([
        200,
        'requests',
        '2',
      ])
    },
  )
})

describe('what needs no key', () => {
  it('is limited by address, apart from those who guess keys', async () => {
    await start({}, { http: { https: 'off', trustedProxies: ['loopback'] } })
    const from = (address: string, path = '/health'): Promise<Answer> =>
      host.call({ path, headers: { 'x-forwarded-for': address } })
    for (let done = 0; done < 720; done += 60) {
      const answers = await Promise.all(Array.from({ length: 60 }, () => from('203.0.113.1')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    }
    const wait = refusal(await from('203.0.113.1', '/openapi.json'), 'public')
    expect((await from('203.0.113.2')).status).toBe(200)
    expect((await from('203.0.113.1', '/v1/logs')).status).toBe(401)
    await expectExact(() => from('203.0.113.1'), wait, 200)
  })
})
