import { describe, expect, it } from 'vitest'
import type { HttpResult } from '../../../../src/core/channels/http-answer.ts'
import { accept, claim, ended, notes } from '../../../../src/testing/storage/fixtures.ts'
import {
  answered,
  DAY,
  HOUR,
  recordOf,
  STORAGE_AWAY,
  URL,
  webhookWorld,
} from '../../../support/webhook-world.ts'

describe('deliveries to webhook endpoints', () => {
  it('that hang delay no other endpoint, even if all others of the organization hang', async () => {
    const { clock, webhooks, posts, world, emit } = await webhookWorld()
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
      await emit()
      await clock.advance(100)
      expect(posts.filter(({ url }) => url === URL)).toHaveLength(sent)
    }
    expect(clock.monotonic()).toBeLessThan(5_000)
    world.answer = () => answered(200)
    await clock.advance(5_000)
  })

  it('hold each event once, however often it is announced', async () => {
    const { webhooks } = await webhookWorld()
    const given = ['notification.sent', 'notification.failed', 'notification.sent'] as const
    const once = ['notification.sent', 'notification.failed']
    const { id, events } = await webhooks.create({ url: URL, events: given })
    expect(events).toEqual(once)
    expect((await webhooks.update(id, { events: [...given].reverse() })).events).toEqual(once)
  })

  it('are held while their endpoint is disabled, until a redelivery', async () => {
    const { webhooks, posts, emit, clock } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    expect(await webhooks.update(id, { status: 'disabled' })).toMatchObject({
      status: 'disabled',
      disabledReason: 'manual',
    })
    await emit()
    await clock.advance(1_000)
    const since = new Date(clock.now()).toISOString()
    await emit()
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

  it('reach an endpoint that moved while its old address answered that it is gone', async () => {
    const { webhooks, posts, emit, world, clock } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    const moved = 'https://example.com/moved'
    let said = (_: HttpResult): void => {}
    const late = new Promise<HttpResult>((resolve) => {
      said = resolve
    })
    world.answer = ({ url }) => (url === URL ? late : answered(200))
    await emit()
    await webhooks.update(id, { url: moved })
    said(answered(410))
    await clock.advance(10_000)
    expect(await webhooks.get(id)).toMatchObject({ url: moved, status: 'active', failingSince: null })
    expect(posts.map(({ url }) => url)).toEqual([URL, moved])
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([{ status: 'delivered', attempts: [{ status: 410 }, { status: 200 }] }])
  })

  it('that could not reach the old address do not count against a moved endpoint', async () => {
    const { webhooks, emit, world, clock } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    let said = (_: HttpResult): void => {}
    const late = new Promise<HttpResult>((resolve) => {
      said = resolve
    })
    world.answer = ({ url }) => (url === URL ? late : answered(200))
    await emit()
    await webhooks.update(id, { url: 'https://example.com/moved' })
    said({ kind: 'failed', reason: 'unreachable', requestSent: false, message: 'refused', durationMs: 1 })
    await clock.advance(1_000)
    expect(await webhooks.get(id)).toMatchObject({ failingSince: null })
  })

  it('can be redelivered under their old id once an endpoint that was gone is enabled again', async () => {
    const { webhooks, posts, emit, world, clock } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    world.answer = () => answered(410)
    await emit()
    await emit()
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

  it('that fail for five days disable their endpoint, and can all be redelivered', async () => {
    const { webhooks, posts, emit, world, clock } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    world.answer = () => answered(500)
    let sent = 0
    // An event takes 28 hours of attempts: the first one that is given up after five days is that of the fourth day.
    for (let day = 0; day < 5; day += 1) {
      await emit()
      sent += 1
      await clock.advance(DAY)
    }
    expect(await webhooks.get(id)).toMatchObject({ status: 'active', disabledReason: null })
    await clock.advance(6 * HOUR)
    expect(await webhooks.get(id)).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    const attempts = posts.length
    await emit()
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

  it('are redelivered in steps that yield to other work', async () => {
    const { webhooks, storage } = await webhookWorld()
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

  it('are listed with their attempts, filtered and in pages', async () => {
    const { webhooks, posts, emit, world, clock } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    await emit()
    world.answer = () => ({
      kind: 'failed',
      reason: 'timeout',
      requestSent: true,
      message: 'No answer within 5000 ms.',
      durationMs: 5_000,
    })
    await emit()
    const { items, ...page } = await webhooks.deliveries(id, { status: 'pending' })
    expect(page).toMatchObject({ limit: 50, hasMore: false, nextCursor: null })
    expect(items).toEqual([
      {
        eventId: posts[1]?.headers['webhook-id'],
        event: 'notification.sent',
        status: 'pending',
        payload: posts[1]?.body,
        nextAttemptAt: new Date(clock.now() + 5_000).toISOString(),
        createdAt: new Date(clock.now()).toISOString(),
        attempts: [
          {
            attempt: 1,
            timestamp: new Date(clock.now()).toISOString(),
            status: null,
            response: 'No answer within 5000 ms.',
            durationMs: 5_000,
            succeeded: false,
            request: recordOf(posts[1]),
          },
        ],
      },
    ])
    expect(posts[1]?.maxResponseBytes).toBe(2_048)
    expect((await webhooks.deliveries(id, { limit: 1 })).hasMore).toBe(true)
    await expect(webhooks.deliveries(id, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_parameter' })
  })

  it.each([
    ['by its claim', false],
    ['after a claim that does not begin it', true],
  ])('have each attempt recorded once, %s', async (_when, leaves) => {
    const begun: string[] = []
    const { webhooks, emit, posts } = await webhookWorld((inner) => ({
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
    await emit()
    expect(posts).toHaveLength(1)
    expect(begun).toEqual(leaves ? ['smtp', id] : ['smtp'])
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([{ status: 'delivered', attempts: [{ attempt: 1 }] }])
  })

  it('record no attempt for a late claim that could not be renewed', async () => {
    const faults = { renew: 1, release: 1 }
    const { webhooks, emit, posts, clock } = await webhookWorld((inner, clock) => ({
      async claim(request) {
        const answer = await inner.claim(request)
        if (faults.renew > 0 && answer.jobs.some(({ begun }) => begun))
          await new Promise<void>((resolve) => clock.timer(25_000, resolve))
        return answer
      },
      async renew(refs, leaseMs) {
        faults.renew -= 1
        if (faults.renew >= 0) throw STORAGE_AWAY
        return inner.renew(refs, leaseMs)
      },
      async release(refs) {
        faults.release -= 1
        if (faults.release >= 0) throw STORAGE_AWAY
        return inner.release(refs)
      },
    }))
    const { id } = await webhooks.create({ url: URL, events: ['notification.sent'] })
    await emit()
    await clock.advance(120_000)
    expect(posts).toHaveLength(1)
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([{ status: 'delivered', attempts: [{ attempt: 1, succeeded: true }] }])
    expect(items[0]?.attempts).toHaveLength(1)
    expect(faults).toEqual({ renew: 0, release: -1 })
  })
})
