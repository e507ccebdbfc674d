import { afterEach, describe, expect, it } from 'vitest'
import { type ErrorCode, standardMessage } from '../../../src/core/errors/catalogue.ts'
import { UNLIMITED } from '../../../src/core/tenancy/plans.ts'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const ORG = 'org_small'
const sendAt = '2026-12-24T18:00:00Z'
/** It waits, and so keeps its status, which a replay reports. */
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada', sendAt }
/** Of fake time, which goes by from poll to poll. */
const HOUR = 3_600_000
const PATHS = ['/v1/notify', '/v1/notifications']

/** The record keeps no texts of errors, which may name a person. */
const withoutTexts = (code: ErrorCode): object => ({ code, message: standardMessage(code) })

describe('idempotency over REST', () => {
  let host: Host
  let clock: FakeClock
  let auth: { authorization: string }
  afterEach(() => host.close())

  async function start(options: HostOptions = {}): Promise<void> {
    clock = options.clock ?? fakeClock()
    host = await startHost({ clock, storage: inMemory(clock), ...options })
    await host.notifier.organizations.create({ id: ORG, name: 'Small', plan: options.plans && 'free' })
    auth = await host.key('Full Access', ORG)
  }

  const post = (path: string, body: unknown, key: string, headers = auth): Promise<Answer> =>
    host.call({ method: 'POST', path, body, headers: { ...headers, 'idempotency-key': key } })
  const stored = async (): Promise<number> =>
    (await host.notifier.organization(ORG).notifications.list({ limit: 100 })).items.length
  const replayed = ({ headers }: Answer): boolean => headers['idempotent-replayed'] === 'true'

  it('50 parallel equals over both send paths make one notification and 50 equal answers', async () => {
    await start({ plans: { free: { ...UNLIMITED, notificationsPerHour: 10, notificationsPerMonth: 10 } } })
    const reordered = Object.fromEntries(Object.entries(mail).reverse())
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        post(PATHS[index % 2] ?? '', index % 3 === 0 ? reordered : mail, 'same'),
      ),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(201)
    expect(answers.filter((answer) => !replayed(answer))).toHaveLength(1)
    expect(await stored()).toBe(1)
    const { limits } = await host.notifier.organization(ORG).limits.get()
    expect(limits.notificationsPerMonth).toMatchObject({ used: 1 })
    expect(limits.notificationsPerHour).toMatchObject({ used: 1 })
  })

  it('50 parallel requests of two bodies: one body wins, the other is refused', async () => {
    await start({ plans: { free: UNLIMITED } })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        post(PATHS[index % 2] ?? '', { ...mail, body: index % 5 < 2 ? 'one' : 'two' }, 'same'),
      ),
    )
    const accepted = answers.filter(({ status }) => status === 201)
    expect([20, 30]).toContain(accepted.length)
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1)
    for (const answer of answers) {
      if (answer.status !== 201)
        expect([answer.status, codeOf(answer)]).toEqual([422, 'idempotency_key_reused'])
    }
    expect(await stored()).toBe(1)
  })

  it('replays when the template is gone', async () => {
    await start({ plans: { free: UNLIMITED } })
    await host.notifier
      .organization(ORG)
      .templates.create({ name: 'welcome', channel: 'email', body: 'Hi {{name}}' })
    const body = { to: 'ada@example.com', template: 'welcome', variables: { name: 'Ada' }, sendAt }
    const first = await post('/v1/notify', body, 'k')
    await host.notifier.organization(ORG).templates.delete('welcome')
    const second = await post('/v1/notifications', body, 'k')
    expect([second.status, second.text, replayed(second)]).toEqual([201, first.text, true])
    const fresh = await post('/v1/notify', body, 'another')
    expect([fresh.status, codeOf(fresh)]).toEqual([422, 'template_not_found'])
  })

  it.each(['notificationsPerMonth', 'notificationsPerHour'] as const)(
    'replays when %s is used up',
    async (limit) => {
      await start({ plans: { free: { ...UNLIMITED, [limit]: 1 } } })
      const first = await post('/v1/notify', mail, 'k')
      expect((await post('/v1/notify', mail, 'another')).status).toBe(429)
      const second = await post('/v1/notify', mail, 'k')
      expect([second.status, second.text, replayed(second)]).toEqual([201, first.text, true])
    },
  )

  it('replays with the present status, of a send and of the items of a batch', async () => {
    await start({ plans: { free: UNLIMITED } })
    const batch = { notifications: [mail, { ...mail, to: 'nobody' }, mail] }
    const [one, many] = [
      await post('/v1/notify', mail, 'k'),
      await post('/v1/notifications/batch', batch, 'k'),
    ]
    const { items } = many.json as { items: { id: string }[] }
    for (const id of [one.json?.id, items[2]?.id])
      await host.call({ method: 'POST', path: `/v1/notifications/${id}/cancel`, headers: auth })
    const answers = [
      await post('/v1/notifications', mail, 'k'),
      await post('/v1/notifications/batch', batch, 'k'),
    ]
    expect(answers.map(replayed)).toEqual([true, true])
    expect(answers.map(({ json }) => json)).toEqual([
      { ...one.json, status: 'cancelled' },
      {
        ...many.json,
        items: [
          items[0],
          { index: 1, error: withoutTexts('invalid_email') },
          { ...items[2], status: 'cancelled' },
        ],
      },
    ])
  })

  it('replays a batch, its refused items too', async () => {
    await start({ plans: { free: { ...UNLIMITED, notificationsPerMonth: 2 } } })
    const batch = {
      notifications: [mail, { ...mail, to: 'nobody' }, mail, { ...mail, channel: 'pigeon' }, mail],
    }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post('/v1/notifications/batch', batch, 'k')),
    )
    const repetitions = answers.filter(replayed)
    expect(repetitions).toHaveLength(9)
    expect(new Set(repetitions.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    const [first] = answers.filter((answer) => !replayed(answer))
    const { items = [] } = (first?.json ?? {}) as { items?: object[] }
    expect(repetitions[0]?.json).toMatchObject({
      items: [
        items[0],
        { error: withoutTexts('invalid_email') },
        items[2],
        { error: withoutTexts('invalid_channel') },
        items[4],
      ],
    })
    for (const { json } of answers)
      expect(json).toMatchObject({
        accepted: 2,
        rejected: 3,
        items: [
          { index: 0, status: 'scheduled' },
          { index: 1, error: { code: 'invalid_email' } },
          { index: 2, status: 'scheduled' },
          { index: 3, error: { code: 'invalid_channel' } },
          { index: 4, error: { code: 'notification_quota_exceeded' } },
        ],
      })
    expect(await stored()).toBe(2)
    const other = await post('/v1/notifications/batch', { notifications: [mail] }, 'k')
    expect([other.status, codeOf(other)]).toEqual([422, 'idempotency_key_reused'])
    expect(other.json).toMatchObject({ error: { details: { field: 'Idempotency-Key' } } })
    // A send is another operation: the key means nothing to it.
    expect(codeOf(await post('/v1/notify', mail, 'k'))).toBe('notification_quota_exceeded')
  })

  it('belongs to the organization: any of its keys replays, also after rotation; no other organization does', async () => {
    await start({ plans: { free: UNLIMITED } })
    const first = await post('/v1/notify', mail, 'k')
    const next = await host.key('Write', ORG)
    expect((await post('/v1/notify', mail, 'k', next)).text).toBe(first.text)
    for (const { id, permission } of (await host.notifier.organization(ORG).apiKeys.list()).items) {
      if (permission === 'Full Access') await host.notifier.organization(ORG).apiKeys.delete(id)
    }
    expect((await post('/v1/notify', mail, 'k')).status).toBe(401)
    const rotated = await post('/v1/notify', mail, 'k', next)
    expect([rotated.text, replayed(rotated)]).toEqual([first.text, true])
    const foreign = await post('/v1/notify', mail, 'k', await host.key('Write'))
    expect([foreign.status, replayed(foreign)]).toEqual([201, false])
    expect(foreign.json?.id).not.toBe(first.json?.id)
  })

  it('ends after 24 hours, and not a second before', async () => {
    await start({ plans: { free: UNLIMITED }, delivery: { pollMs: HOUR } })
    const first = await post('/v1/notify', mail, 'k')
    await clock.advance(24 * HOUR - 1_000)
    expect((await post('/v1/notify', mail, 'k')).text).toBe(first.text)
    await clock.advance(1_000)
    const late = await post('/v1/notify', mail, 'k')
    expect([late.status, replayed(late)]).toEqual([201, false])
    expect(late.json?.id).not.toBe(first.json?.id)
  })

  it('keeps nothing of a refused request: its key is free for the corrected one', async () => {
    await start({ plans: { free: UNLIMITED } })
    expect((await post('/v1/notify', { ...mail, to: 'nobody' }, 'k')).status).toBe(422)
    const corrected = await post('/v1/notify', mail, 'k')
    expect([corrected.status, replayed(corrected)]).toEqual([201, false])
  })

  it('keeps nothing of a validation', async () => {
    await start({ plans: { free: UNLIMITED } })
    const headers = { ...auth, 'x-test-mode': 'true' }
    expect((await post('/v1/notify', mail, 'k', headers)).status).toBe(200)
    const sent = await post('/v1/notify', { ...mail, body: 'Other' }, 'k')
    expect([sent.status, replayed(sent)]).toEqual([201, false])
    const reused = await post('/v1/notify', mail, 'k', headers)
    expect([reused.status, codeOf(reused)]).toEqual([422, 'idempotency_key_reused'])
  })

  it('is 503 when the storage has not answered for a minute, and replays what it stored', async () => {
    clock = fakeClock()
    const storage = inMemory(clock)
    let lost = true
    let accepted = false
    await start({
      clock,
      delivery: { pollMs: HOUR },
      storage: {
        ...storage,
        async accept(requests) {
          const answers = await storage.accept(requests)
          accepted = true
          return lost ? new Promise<never>(() => {}) : answers
        },
      },
    })
    const first = post('/v1/notify', mail, 'k')
    await expect.poll(() => accepted).toBe(true)
    await clock.advance(60_000)
    const unanswered = await first
    expect([unanswered.status, codeOf(unanswered)]).toEqual([503, 'service_unavailable'])
    expect(unanswered.headers['retry-after']).toBe('5')
    lost = false
    const second = await post('/v1/notify', mail, 'k')
    expect([second.status, replayed(second)]).toEqual([201, true])
    expect(await stored()).toBe(1)
  })

  it('is 409 only when the first takes longer than the wait limit, and its answer is there later', async () => {
    const time = fakeClock()
    let waiting = 0
    clock = {
      ...time,
      timer(delayMs, callback) {
        const cancel = time.timer(delayMs, callback)
        if (delayMs !== 10_000) return cancel
        // A call of the rate limiter may take as long; its timer goes when it has answered.
        waiting += 1
        return () => {
          waiting -= 1
          cancel()
        }
      },
    }
    const storage = inMemory(clock)
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let holding = false
    await start({
      clock,
      plans: { free: UNLIMITED },
      storage: {
        ...storage,
        async accept(requests) {
          holding = true
          await held
          return storage.accept(requests)
        },
      },
    })
    const first = post('/v1/notify', mail, 'k')
    await expect.poll(() => holding).toBe(true)
    let answered = 0
    const others = Array.from({ length: 5 }, () =>
      post('/v1/notifications', mail, 'k').then((answer) => {
        answered += 1
        return answer
      }),
    )
    await expect.poll(() => waiting).toBe(5)
    await clock.advance(9_999)
    expect(answered).toBe(0)
    await clock.advance(1)
    for (const answer of await Promise.all(others)) {
      expect([answer.status, codeOf(answer)]).toEqual([409, 'idempotency_in_progress'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
    letGo()
    const sent = await first
    expect(sent.status).toBe(201)
    expect((await post('/v1/notify', mail, 'k')).text).toBe(sent.text)
  })
})
