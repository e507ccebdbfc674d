import { describe, expect, it } from 'vitest'
import { createSecretBox } from '../../../../src/core/access/secrets.ts'
import type { HttpResult } from '../../../../src/core/channels/http-answer.ts'
import { createEngine } from '../../../../src/core/delivery/engine.ts'
import { createDeadline } from '../../../../src/core/loop/deadline.ts'
import { createProcessor } from '../../../../src/core/loop/processor.ts'
import { silentLogger } from '../../../../src/core/observe/silent-logger.ts'
import type { PostRequest } from '../../../../src/core/ports/outgoing.ts'
import { webhookSigner } from '../../../../src/outgoing/webhook-signer.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { organization } from '../../../../src/testing/storage/fixtures.ts'
import { mapStorage } from '../../../map-storage/index.ts'
import { createState } from '../../../map-storage/state.ts'
import { compiledOver } from '../../../support/compiled.ts'
import { engineParts } from '../../../support/engine-parts.ts'
import { observation } from '../../../support/observation.ts'

const MINUTE = 60_000
const answered = (status: number, headers: Record<string, string> = {}): HttpResult => ({
  kind: 'answered',
  status,
  headers,
  body: '',
  durationMs: 1,
})

/** An engine whose unit out is a function of the test. */
async function create(post: (request: PostRequest) => HttpResult | Promise<HttpResult>, endpoints = 1) {
  const clock = fakeClock()
  const state = createState(clock)
  const storage = mapStorage(state)
  await storage.start()
  const posts: { readonly request: PostRequest; readonly at: number }[] = []
  const errors: unknown[] = []
  const boxes = { current: createSecretBox(['a secret of a test']) }
  const signer = webhookSigner()
  const channel = recordingProvider()
  const processor = createProcessor(clock)
  const engine = createEngine({
    storage,
    clock,
    signer,
    ...engineParts(channel, clock),
    processor,
    compiled: compiledOver(storage, processor),
    outgoing: {
      async post(request) {
        posts.push({ request, at: clock.monotonic() })
        return post(request)
      },
      head: () => Promise.reject(new Error('Events are posted.')),
      refuses: () => null,
      async close() {},
    },
    ...observation(),
    logger: silentLogger(),
    findAddress: () => undefined,
    leaseMs: MINUTE,
    pollMs: 60 * MINUTE,
    box: () => boxes.current,
    random: () => 0.5,
    emit() {},
    onError: (error) => void errors.push(error),
  })
  const register = (number: number | string, organizationId = 'org_default') =>
    storage.webhookEndpoints.create(
      {
        id: `wh_${number}`,
        organizationId,
        url: `https://example.com/${number}`,
        events: ['notification.sent'],
        successStatus: '200',
        secrets: [boxes.current.seal(signer.newSecret())],
      },
      2_000,
    )
  for (let number = 0; number < endpoints; number += 1) await register(number)
  engine.start()
  const send = (count: number, organizationId = 'org_default') =>
    storage
      .accept([
        {
          organizationId,
          notifications: Array.from({ length: count }, (_, number) => ({
            id: `notif_${String(clock.monotonic())}${String(number).padStart(6, '0')}`,
            channel: 'email' as const,
            to: 'ada@example.com',
            content: { body: 'x' },
            lane: 'email',
            priority: 'normal' as const,
            sendAt: null,
            expiresAt: null,
          })),
        },
      ])
      .then(() => engine.wake('email'))
  const deliveries = () => state.deliveries.map(({ shown }) => shown)
  return { clock, engine, posts, errors, boxes, register, send, storage, deliveries, channel }
}

describe('webhook events', () => {
  it('are posted once when the endpoint answers 200, signed, with an id of their own', async () => {
    const { clock, posts, send, deliveries } = await create(() => answered(200))
    await send(1)
    await clock.advance(1_000)
    expect(posts).toHaveLength(1)
    const { headers, body, timeoutMs } = posts[0]!.request
    expect(headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^evt_\d+_2$/),
      'content-type': 'application/json',
    })
    expect(headers['webhook-signature']).toMatch(/^v1,/)
    expect(JSON.parse(String(body))).toMatchObject({ event: 'notification.sent', data: { status: 'sent' } })
    expect(timeoutMs).toBe(5_000)
    expect(deliveries()[0]?.state).toBe('delivered')
  })

  it('are tried again by the schedule, with the same id and body, and then fail', async () => {
    const { clock, posts, send, deliveries } = await create(() => answered(500))
    await send(1)
    await clock.until(() => deliveries()[0]?.state === 'failed')
    const minutes = posts.map(({ at }) => at / MINUTE)
    const waits = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0))
    expect(waits.map((wait) => Math.round(wait * 12) / 12)).toEqual(
      [5 / 60, 5, 30, 120, 300, 600, 600].map((m) => Math.round(m * 12) / 12),
    )
    expect(new Set(posts.map(({ request }) => request.headers['webhook-id'])).size).toBe(1)
    expect(new Set(posts.map(({ request }) => request.body)).size).toBe(1)
    expect(new Set(posts.map(({ request }) => request.headers['webhook-timestamp'])).size).toBe(posts.length)
  })

  it('are not given up by a stop that aborts their last attempt', async () => {
    const aborted = {
      kind: 'failed',
      reason: 'aborted',
      requestSent: true,
      message: 'x',
      durationMs: 1,
    } as const
    const { clock, engine, posts, send, deliveries } = await create(({ signal }) =>
      posts.length < 8
        ? answered(500)
        : new Promise((resolve) => signal?.addEventListener('abort', () => resolve(aborted))),
    )
    await send(1)
    await clock.until(() => posts.length === 8)
    const stopped = engine.stop(createDeadline(0, clock))
    await clock.advance(0)
    await stopped
    expect(deliveries()[0]).toMatchObject({ state: 'pending', attempts: { length: 8 } })
  })

  it('wait as long as an overloaded endpoint asks, up to twice the delay', async () => {
    const { clock, posts, send } = await create(() => answered(429, { 'retry-after': '8' }))
    await send(1)
    await clock.advance(30_000)
    expect(posts.map(({ at }) => at)).toEqual([0, 8_000])
  })

  it('disable an endpoint that is gone, and are held', async () => {
    const { clock, posts, send, deliveries, storage } = await create(() => answered(410))
    await send(1)
    await clock.advance(1_000)
    expect(await storage.webhookEndpoints.get('wh_0')).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
    })
    await send(1)
    await clock.advance(24 * 60 * MINUTE)
    expect(posts).toHaveLength(1)
    expect(deliveries().map(({ state }) => state)).toEqual(['held', 'held'])
  })

  it('are held also where their last attempt tells that the endpoint is gone', async () => {
    const { clock, posts, send, deliveries } = await create(() => answered(posts.length < 8 ? 500 : 410))
    await send(1)
    await clock.until(() => posts.length === 8)
    await clock.advance(24 * 60 * MINUTE)
    expect(posts).toHaveLength(8)
    expect(deliveries()[0]).toMatchObject({ state: 'held', attempts: { length: 8 } })
  })

  it('whose secret cannot be opened wait for it by the schedule, hold nobody up, and end', async () => {
    const { clock, posts, send, boxes, errors, deliveries, channel } = await create(() => answered(200))
    const right = boxes.current
    boxes.current = createSecretBox(['another secret'])
    await send(1)
    await clock.advance(10 * MINUTE)
    expect(posts).toEqual([])
    expect(deliveries()[0]?.attempts.length).toBe(3)
    expect(deliveries()[0]?.attempts[0]?.response).toContain('"secret"')
    await send(1)
    await clock.advance(1_000)
    expect(channel.calls).toHaveLength(2)
    boxes.current = right
    await clock.until(() => deliveries().every(({ state }) => state === 'delivered'))
    boxes.current = createSecretBox(['another secret'])
    await send(1)
    await clock.until(() => deliveries().at(-1)?.state === 'failed')
    expect(errors.filter((error) => !String(error).includes('cannot be signed'))).toEqual([])
  })

  it('whose secret cannot be opened are told to the operator with the reason, once a minute', async () => {
    const { clock, send, boxes, errors } = await create(() => answered(200), 2)
    boxes.current = createSecretBox(['another secret'])
    await send(20)
    await clock.advance(30_000)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('cannot be signed'),
      cause: { code: 'invalid_configuration', message: expect.stringContaining('option "secret"') },
    })
    await clock.advance(10 * MINUTE)
    expect(errors).toHaveLength(2)
  })

  it.each([
    [10, 10, 100],
    // Four are left for whoever has none.
    [40, 5, 196],
  ])(
    'to %i endpoints have ten under unit to one, or an equal share of nearly two hundred',
    async (endpoints, one, together) => {
      const underWay = new Map<string, number>()
      let all = 0
      let mostOfOne = 0
      let mostOfAll = 0
      const { clock, send, posts } = await create(
        ({ url }) =>
          new Promise((resolve) => {
            const own = (underWay.get(url) ?? 0) + 1
            underWay.set(url, own)
            all += 1
            mostOfOne = Math.max(mostOfOne, own)
            mostOfAll = Math.max(mostOfAll, all)
            clock.timer(1_000, () => {
              underWay.set(url, (underWay.get(url) ?? 0) - 1)
              all -= 1
              resolve(answered(200))
            })
          }),
        endpoints,
      )
      await send(20)
      await clock.advance(500)
      expect([mostOfOne, mostOfAll]).toEqual([one, together])
      await clock.advance(60_000)
      expect(posts).toHaveLength(20 * endpoints)
      expect(mostOfOne).toBeLessThanOrEqual(10)
      expect(mostOfAll).toBe(together)
    },
  )

  it.each([
    [4, 5_000],
    [40, 5_000],
    [400, 5_000],
    // The lanes that a claim names are a thousand at most, in turns.
    [1_010, 15_000],
  ])(
    'of an organization with %i endpoints that hang leave room to another',
    async (endpoints, withinMs) => {
      const { clock, storage, register, send, posts } = await create(({ url }) => {
        if (url.endsWith('/b')) return answered(200)
        return new Promise((resolve) => {
          clock.timer(5_000, () =>
            resolve({
              kind: 'failed',
              reason: 'timeout',
              requestSent: true,
              message: 'x',
              durationMs: 5_000,
            }),
          )
        })
      }, endpoints)
      await organization(storage, 'org_b')
      await register('b', 'org_b')
      // More than may be under way in all.
      await send(endpoints > 100 ? 2 : 100)
      await clock.advance(6_000)
      await send(1, 'org_b')
      const posted = () => posts.filter(({ request }) => request.url.endsWith('/b')).length
      // At the latest the first slot that becomes free.
      await clock.advance(withinMs)
      expect(posted()).toBe(1)
    },
    60_000,
  )

  it('of a slow endpoint do not hold up another', async () => {
    const { clock, send, posts } = await create(({ url }) => {
      if (!url.endsWith('/0')) return answered(200)
      return new Promise((resolve) => {
        clock.timer(5_000, () =>
          resolve({ kind: 'failed', reason: 'timeout', requestSent: true, message: 'x', durationMs: 5_000 }),
        )
      })
    }, 2)
    await send(30)
    await clock.advance(1_000)
    expect(posts.filter(({ request }) => request.url.endsWith('/0'))).toHaveLength(10)
    expect(posts.filter(({ request }) => request.url.endsWith('/1'))).toHaveLength(30)
  })
})
