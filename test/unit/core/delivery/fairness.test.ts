import { describe, expect, it } from 'vitest'
import type { ClaimRequest } from '../../../../src/core/ports/storage/claim.ts'
import type { Settlement } from '../../../../src/core/ports/storage/settle.ts'
import { type FakeClock, fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const ACCEPTED = { kind: 'accepted' }

it('after 10,000 of one organization, one of another goes in the next round', async () => {
  const clock = fakeClock()
  const world = notifierWorld({ clock, storage: inMemory(clock) })
  const order: string[] = []
  const channel = recordingProvider({
    maxConcurrent: 10,
    send: (_message, { organizationId }) => {
      order.push(organizationId)
      return new Promise((resolve) => clock.timer(1_000, () => resolve({ kind: 'accepted' })))
    },
  })
  const notifier = await world.start({ channels: { email: channel }, plans: {} })
  await notifier.organizations.create({ id: 'org_big', name: 'Big' })
  await notifier.organizations.create({ id: 'org_small', name: 'Small' })
  const { accepted } = await notifier
    .organization('org_big')
    .sendBatch(Array.from({ length: 10_000 }, () => mail))
  expect(accepted).toBe(10_000)
  await clock.until(() => order.length >= 25)
  const before = order.length
  await notifier.organization('org_small').send(mail)
  await clock.until(() => order.includes('org_small'))
  // Slots become free together: the first round that begins after the send has it.
  expect(order.indexOf('org_small') - before).toBeLessThan(10)
}, 60_000)

/** Delivers a backlog of one organization: the number of claims, and the most messages under way. */
async function backlogOf(organizationId: string, maxConcurrent: number, maxPerSecond?: number) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  let claims = 0
  const claim = (request: ClaimRequest) => {
    claims += 1
    return storage.claim(request)
  }
  const world = notifierWorld({ clock, storage: { ...storage, claim } })
  let sent = 0
  let running = 0
  let most = 0
  const channel = recordingProvider({
    maxConcurrent,
    ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
    send: async () => {
      running += 1
      most = Math.max(most, running)
      sent += 1
      await new Promise<void>((resolve) => clock.timer(1_000 + 7 * (sent % 5), resolve))
      running -= 1
      return { kind: 'accepted' }
    },
  })
  const notifier = await world.start({ channels: { email: channel }, plans: {} })
  await notifier.organizations.create({ id: 'org_big', name: 'Big' })
  await notifier.organization(organizationId).sendBatch(Array.from({ length: 100 }, () => mail))
  await clock.until(() => sent === 100)
  return { claims, most }
}

it('an organization that may have no more slots is not claimed for again and again', async () => {
  const all = await backlogOf('org_default', 5)
  const half = await backlogOf('org_big', 10)
  expect([all.most, half.most]).toEqual([5, 5])
  expect(half.claims).toBeLessThanOrEqual(1.2 * all.claims)
})

it('a rate limit does not count as slots in use', async () => {
  // Each takes a second, and the rate permits few more at a time than are under way.
  const { most } = await backlogOf('org_big', 10, 2)
  expect(most).toBeGreaterThan(1)
})

it('what is urgent overtakes the bulk of its own organization, and never stops it', async () => {
  const clock = fakeClock()
  const world = notifierWorld({ clock, storage: inMemory(clock) })
  const order: string[] = []
  const channel = recordingProvider({
    maxConcurrent: 10,
    send: ({ body }) => {
      order.push(body)
      return new Promise((resolve) => clock.timer(1_000, () => resolve({ kind: 'accepted' })))
    },
  })
  const notifier = await world.start({ channels: { email: channel }, plans: {} })
  const batch = (count: number, message: object) =>
    notifier.sendBatch(Array.from({ length: count }, () => ({ ...mail, ...message })))
  await batch(1_000, { body: 'bulk' })
  await clock.until(() => order.length >= 25)
  const before = order.length
  await notifier.send({ ...mail, body: 'code', priority: 'high' })
  await clock.until(() => order.includes('code'))
  expect(order.indexOf('code') - before).toBeLessThan(10)

  await batch(200, { body: 'flood', priority: 'high' })
  await clock.until(() => order.includes('flood'))
  const flooded = order.length
  await clock.until(() => order.length >= flooded + 100)
  const hundred = order.slice(flooded, flooded + 100)
  expect(hundred.filter((body) => body === 'bulk')).toHaveLength(20)
}, 60_000)

it('a provider that hangs holds up only its own concurrency', async () => {
  const world = notifierWorld()
  const { clock } = world
  const hanging = recordingProvider({ name: 'hanging', maxConcurrent: 4, send: () => new Promise(() => {}) })
  const healthy = recordingProvider({ name: 'healthy', maxConcurrent: 20 })
  const sms = recordingProvider({ name: 'sms' })
  const notifier = await world.start({ channels: { email: [hanging, healthy], sms } })
  await notifier.sendBatch(Array.from({ length: 100 }, () => mail))
  const { id } = await notifier.send({ channel: 'sms', to: '+14155550123', body: 'x' })
  await clock.advance(0)
  expect(clock.monotonic()).toBe(0)
  expect([hanging.calls.length, healthy.calls.length]).toEqual([4, 96])
  expect((await notifier.notifications.get(id)).status).toBe('sent')
  expect((await notifier.health()).providers).toMatchObject([
    { name: 'hanging', running: 4 },
    { name: 'healthy', running: 0 },
    { name: 'sms', running: 0 },
  ])
})

it.each([
  ['fails over', { kind: 'rejected', scope: 'account', code: 'provider_auth_failed' }, 100],
  ['is tried again', { kind: 'retry', scope: 'recipient', code: 'provider_error' }, 1_100],
])('what %s waits for no poll, whatever else hangs and has a backlog', async (_what, outcome, withinMs) => {
  const world = notifierWorld()
  const { clock } = world
  const sms = recordingProvider({ maxConcurrent: 1, send: () => new Promise(() => {}) })
  const retry = { kind: 'schedule', delaysMs: [1_000], jitter: 0 } as const
  const email = recordingProvider({
    send: (_message, { attempt }) => (attempt === 1 ? outcome : ACCEPTED),
    retry,
  })
  const second = recordingProvider({ name: 'second' })
  const providers = outcome.scope === 'account' ? [email, second] : [email]
  const notifier = await world.start({ channels: { email: providers, sms } })
  const texts = Array.from({ length: 3 }, () => ({ channel: 'sms', to: '+14155550123', body: 'x' }) as const)
  await notifier.sendBatch(texts)
  await clock.advance(100)
  const { id } = await notifier.send(mail)
  await clock.advance(withinMs)
  expect((await notifier.notifications.get(id)).status).toBe('sent')
})

it('what was claimed goes out, also where too many outcomes wait for the storage by the time it comes', async () => {
  const clock = fakeClock()
  const inner = inMemory(clock)
  const settled: Settlement[] = []
  const world = notifierWorld({
    clock,
    storage: {
      ...inner,
      async claim(request: ClaimRequest) {
        const answer = await inner.claim(request)
        // The first message of a claim ends here, while the next one is on its unit: one outcome more than may wait.
        await new Promise<void>((resolve) => clock.timer(5, resolve))
        return answer
      },
      async settle(settlements: readonly Settlement[]) {
        await new Promise<void>((resolve) => clock.timer(100, resolve))
        settled.push(...settlements)
        return inner.settle(settlements)
      },
    },
  })
  const channel = recordingProvider({
    maxConcurrent: 3,
    send: ({ body }) =>
      new Promise((resolve) => clock.timer(Number(body), () => resolve({ kind: 'accepted' }))),
  })
  const notifier = await world.start({ channels: { email: channel } })
  await notifier.sendBatch(
    Array.from({ length: 100 }, (_, index) => ({ ...mail, body: String(1 + (index % 7)) })),
  )
  await clock.until(() => settled.length >= 100)
  expect(settled.filter(({ next }) => next.kind === 'retry')).toEqual([])
})

describe('messages that only a provider reaches that cannot take them', () => {
  const many = (count: number) => Array.from({ length: count }, () => mail)
  const ofOthers = { ...mail, to: 'ada@example.org' }

  /** A storage whose settlements take `settleMs`; counts what is claimed, and what is leased at most at one time. */
  function counted(clock: FakeClock, settleMs: number) {
    const storage = inMemory(clock)
    const counts = { claimed: 0, leased: 0, most: 0 }
    return {
      counts,
      storage: {
        ...storage,
        async claim(request: ClaimRequest) {
          const answer = await storage.claim(request)
          counts.claimed += answer.jobs.length
          counts.leased += answer.jobs.length
          counts.most = Math.max(counts.most, counts.leased)
          return answer
        },
        async settle(settlements: readonly Settlement[]) {
          if (settleMs > 0) await new Promise<void>((resolve) => clock.timer(settleMs, resolve))
          counts.leased -= settlements.length
          return storage.settle(settlements)
        },
      },
    }
  }

  it('wait for the end of its rest, and are not claimed again and again before it', async () => {
    const clock = fakeClock()
    const { storage, counts } = counted(clock, 0)
    const world = notifierWorld({ clock, storage })
    const resting = recordingProvider({
      name: 'paused',
      accepts: (to) => to.endsWith('.com'),
      send: async () => ({ kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }),
    })
    const other = recordingProvider({ name: 'other', accepts: (to) => to.endsWith('.org') })
    const notifier = await world.start({ channels: { email: [resting, other] } })
    await notifier.sendBatch(many(1_000))
    await clock.advance(10_000)
    expect(counts.claimed).toBeLessThan(1_500)
    const { id } = await notifier.send(ofOthers)
    await clock.advance(0)
    expect((await notifier.notifications.get(id)).status).toBe('sent')
    const before = resting.calls.length
    await clock.advance(60_000)
    expect(resting.calls.length).toBeGreaterThan(before)
  })

  it('leave the others their turn while it hangs, and never pile up in memory', async () => {
    const clock = fakeClock()
    const { storage, counts } = counted(clock, 10)
    const world = notifierWorld({ clock, storage })
    const hanging = recordingProvider({
      name: 'hanging',
      maxConcurrent: 2,
      accepts: (to) => to.endsWith('.com'),
      send: () => new Promise(() => {}),
    })
    const other = recordingProvider({ name: 'other', accepts: (to) => to.endsWith('.org') })
    const notifier = await world.start({ channels: { email: [hanging, other] } })
    await notifier.sendBatch(many(3_000))
    const { id } = await notifier.send(ofOthers)
    await clock.until(async () => (await notifier.notifications.get(id)).status === 'sent', 5_000)
    expect(counts.most).toBeLessThan(150)
    await clock.advance(5_000)
    expect(counts.claimed).toBeLessThan(3_000 + 10_000)
  })
})

it.each(['y', 'n', 'ny', 'nnny', 'nynn', 'nyny'])(
  'a provider whose accepts() now and then throws, as in %s, leaves no job to its lease',
  async (answers) => {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const unsettled = new Set<string>()
    const world = notifierWorld({
      clock,
      storage: {
        ...storage,
        async claim(request: ClaimRequest) {
          const answer = await storage.claim(request)
          for (const { jobId } of answer.jobs) unsettled.add(jobId)
          return answer
        },
        settle(settlements: readonly Settlement[]) {
          for (const { jobId } of settlements) unsettled.delete(jobId)
          return storage.settle(settlements)
        },
      },
    })
    let asked = 0
    let moods = 'y'
    const moody = recordingProvider({
      accepts() {
        const mood = moods[asked % moods.length]
        asked += 1
        if (mood === 'y') return true
        throw new Error('Not now.')
      },
    })
    const never = recordingProvider({ name: 'never', accepts: () => false })
    const notifier = await world.start({ channels: { email: [moody, never] } })
    const { id } = await notifier.send({ ...mail, sendAt: new Date(clock.now() + 1_000).toISOString() })
    moods = answers
    asked = 0
    await clock.advance(30_000)
    expect([...unsettled]).toEqual([])
    expect(world.errors.map(({ cause }) => (cause as Error)?.message)).toEqual(
      answers.includes('n') ? ['Not now.'] : [],
    )
    expect(['sent', 'failed']).toContain((await notifier.notifications.get(id)).status)
  },
)
