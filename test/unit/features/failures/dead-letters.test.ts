import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { note } from '../../../../src/testing/storage/fixtures.ts'
import { inMemory } from '../../../support/in-memory.ts'

describe('dead letters', () => {
  /** A notifier whose provider refuses everything until it is told otherwise. */
  async function start() {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const channel = recordingProvider({
      maxConcurrent: 100,
      retry: { kind: 'exponential', maxAttempts: 2, baseMs: 1_000, capMs: 1_000 },
    })
    const refuse = (): void =>
      channel.behave(() => ({ kind: 'rejected', scope: 'message', code: 'invalid_content' }))
    refuse()
    const notifier = createNotifier({ channels: { email: channel }, storage, clock, plans: {} })
    await notifier.start()
    onTestFinished(() => notifier.stop())
    const send = (change: object = {}) =>
      notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi', ...change })
    const statuses = async () => {
      const { items } = await notifier.notifications.list({ limit: 100 })
      return items.map(({ status }) => status)
    }
    /** So many that fail; answers their ids, oldest first. */
    async function fail(count: number, change: object = {}): Promise<string[]> {
      const ids: string[] = []
      for (let index = 0; index < count; index += 1) ids.push((await send(change)).id)
      await clock.until(async () => (await notifier.deadLetters.list({ limit: 100 })).items.length >= count)
      return ids
    }
    const works = (): void =>
      channel.behave((_message, { notificationId }) => ({
        kind: 'accepted',
        providerMessageId: `m-${notificationId}`,
      }))
    return { clock, storage, channel, notifier, send, fail, statuses, works, refuse }
  }

  it('are retried one by one: attempts begin anew, their numbers go on', async () => {
    const { clock, channel, notifier, fail } = await start()
    const [id = ''] = await fail(1)
    channel.behave(() => ({ kind: 'retry', scope: 'message', code: 'provider_error' }))
    expect(await notifier.notifications.retry(id)).toMatchObject({ id, status: 'queued', error: null })
    const error = { code: 'not_retryable', message: expect.stringContaining('queued') }
    await expect(notifier.notifications.retry(id)).rejects.toMatchObject(error)
    await clock.until(async () => (await notifier.notifications.get(id)).status === 'failed')
    const { timeline } = await notifier.notifications.get(id)
    expect(timeline.map(({ event, attempt }) => [event, attempt])).toEqual([
      ['queued', null],
      ['failed', 1],
      ['retried', null],
      ['attempt_failed', 2],
      ['attempt_failed', 3],
      ['failed', 3],
    ])
    expect(channel.calls.map(({ context }) => context.attempt)).toEqual([1, 2, 3])
    // With the first key, a provider that deduplicates would answer as it did then, and send nothing.
    expect(channel.calls.map(({ context }) => context.idempotencyKey)).toEqual([id, `${id}-1`, `${id}-1`])
  })

  it('are listed and retried by what they have in common; a dry run only counts', async () => {
    const { notifier, fail, statuses, works, clock } = await start()
    const [a = '', b = ''] = await fail(2)
    await fail(1, { to: 'bob@example.com' })
    const listed = await notifier.deadLetters.list({
      code: 'invalid_content',
      provider: 'recorder',
      limit: 2,
    })
    expect([listed.items.length, listed.hasMore]).toEqual([2, true])
    expect((await notifier.deadLetters.list({ code: 'mailbox_full' })).items).toEqual([])
    expect((await notifier.deadLetters.list({ ids: [a], template: 'no-such' })).items).toEqual([])
    expect((await notifier.deadLetters.list({ ids: [a, b] })).items.map(({ id }) => id)).toEqual([b, a])

    works()
    const filter = { to: 'ada@example.com', code: 'invalid_content' } as const
    const none = {
      retried: 0,
      skipped: { expired: 0, unroutable: 0, contentRemoved: 0 },
      more: false,
      nextCursor: null,
      lastDueAt: null,
    }
    const dry = await notifier.deadLetters.retry({ filter, dryRun: true })
    expect(dry).toMatchObject({ dryRun: true, retried: 2, more: false })
    expect(await statuses()).toEqual(['failed', 'failed', 'failed'])
    const done = await notifier.deadLetters.retry({ filter })
    expect(done).toMatchObject({
      dryRun: false,
      retried: 2,
      skipped: { expired: 0, unroutable: 0, contentRemoved: 0 },
    })
    expect(await notifier.deadLetters.retry({ filter })).toEqual({ dryRun: false, ...none })
    await clock.until(async () => (await notifier.notifications.get(b)).status === 'sent')
    expect(await statuses()).toEqual(['failed', 'sent', 'sent'])
    expect(await notifier.deadLetters.retry({ filter: {}, most: 1 })).toMatchObject({
      retried: 1,
      more: false,
      nextCursor: null,
    })
  })

  it('are retried in short steps with turns for others, and counted exactly', async () => {
    const { notifier, storage, clock } = await start()
    const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' } as const
    await notifier.sendBatch(Array.from({ length: 450 }, () => mail))
    await clock.until(
      async () => (await notifier.notifications.list({ status: 'queued' })).items.length === 0,
    )
    const { retry } = storage.notifications
    const steps: number[] = []
    let turn = 0
    const count = (): void => {
      turn += 1
      if (steps.length < 6) setImmediate(count)
    }
    setImmediate(count)
    const turns: number[] = []
    Object.assign(storage.notifications, {
      retry(request: Parameters<typeof retry>[0]) {
        steps.push(request.most)
        turns.push(turn)
        return retry(request)
      },
    })
    for (const dryRun of [true, false])
      expect(await notifier.deadLetters.retry({ filter: {}, dryRun })).toMatchObject({
        retried: 450,
        more: false,
      })
    expect(steps).toEqual(Array(6).fill(200))
    expect(new Set(turns).size).toBeGreaterThanOrEqual(5)
  })

  it('are retried at a rate, so that they do not come all at once', async () => {
    const { notifier, fail, works, channel, clock } = await start()
    await fail(5)
    works()
    const before = channel.calls.length
    const began = clock.now()
    const { lastDueAt } = await notifier.deadLetters.retry({ filter: {}, ratePerSecond: 0.5 })
    expect(Date.parse(lastDueAt ?? '') - began).toBe(8_000)
    const calls = (): number => channel.calls.length - before
    await clock.advance(0)
    expect(calls()).toBe(1)
    for (const count of [1, 2, 3, 4]) {
      await clock.advance(1_990)
      expect(calls()).toBe(count)
      await clock.advance(10)
      expect(calls()).toBe(count + 1)
    }
  })

  it('that have expired or are suppressed are not delivered, and say so', async () => {
    const { notifier, fail, clock, works, channel } = await start()
    const [expired = ''] = await fail(1, { expiresAt: new Date(clock.now() + 60_000) })
    const [suppressed = ''] = await fail(1, { to: 'bob@example.com' })
    await clock.advance(60_000)
    await notifier.suppressions.add({ channel: 'email', to: 'bob@example.com' })
    works()
    const before = channel.calls.length
    expect(await notifier.deadLetters.retry({ filter: {} })).toMatchObject({
      retried: 1,
      skipped: { expired: 1, unroutable: 0, contentRemoved: 0 },
    })
    await clock.until(
      async () => (await notifier.notifications.get(suppressed)).error?.code === 'blocked_recipient',
    )
    expect(channel.calls.length).toBe(before)
    await expect(notifier.notifications.retry(expired)).rejects.toMatchObject({
      code: 'not_retryable',
      message: expect.stringContaining('expired'),
    })
  })

  it('of a channel that is gone stay, and of another organization too', async () => {
    const { notifier, storage, fail } = await start()
    const [id = ''] = await fail(1)
    await notifier.organizations.create({ id: 'org_b', name: 'B' })
    const tenant = notifier.organization('org_b')
    const slack = note({ channel: 'slack', to: '#ops', lane: 'slack' })
    await storage.accept([{ organizationId: 'org_b', notifications: [slack] }])
    const { jobs } = await storage.claim({ lanes: [{ lane: 'slack', free: 1 }], leaseMs: 60_000 })
    for (const { jobId, token } of jobs) {
      const facts = [{ type: 'failed', code: 'provider_error' }] as const
      await storage.settle([{ kind: 'notification', jobId, token, facts, next: { kind: 'end' } }])
    }
    const answer = await tenant.deadLetters.retry({ filter: { ids: [id, slack.id] } })
    expect(answer).toMatchObject({ retried: 0, skipped: { expired: 0, unroutable: 1, contentRemoved: 0 } })
    await expect(tenant.notifications.retry(slack.id)).rejects.toMatchObject({
      code: 'invalid_channel',
    })
    await expect(tenant.notifications.retry(id)).rejects.toMatchObject({
      code: 'organization_mismatch',
    })
    await expect(notifier.notifications.retry('notif_0')).rejects.toMatchObject({
      code: 'notification_not_found',
    })
  })

  it('are retried once by ten operators at once, in steps between which others work', async () => {
    const { notifier, storage, channel, works, clock } = await start()
    const count = 2_500
    const notifications = Array.from({ length: count }, () => note({ lane: 'nowhere' }))
    await storage.accept([{ organizationId: 'org_default', notifications }])
    const { jobs } = await storage.claim({ lanes: [{ lane: 'nowhere', free: count }], leaseMs: 60_000 })
    const facts = [{ type: 'failed', code: 'provider_error' }] as const
    await storage.settle(
      jobs.map(({ jobId, token }) => ({ kind: 'notification', jobId, token, facts, next: { kind: 'end' } })),
    )
    works()
    const retry = () => notifier.deadLetters.retry({ filter: {}, ratePerSecond: 1 })
    let counted = false
    const dry = notifier.deadLetters.retry({ filter: {}, dryRun: true }).finally(() => {
      counted = true
    })
    let turns = 0
    for (; !counted; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    // Three steps of a thousand.
    expect(turns).toBeGreaterThan(2)
    expect((await dry).retried).toBe(count)
    const answers = await Promise.all(Array.from({ length: 10 }, retry))
    expect(answers.reduce((sum, { retried }) => sum + retried, 0)).toBe(count)
    await clock.advance(0)
    expect(new Set(channel.calls.map(({ context }) => context.notificationId)).size).toBe(
      channel.calls.length,
    )
  })

  it('need a filter, and a sound one', async () => {
    const { notifier } = await start()
    const retry = notifier.deadLetters.retry
    await expect(retry({} as never)).rejects.toMatchObject({
      code: 'missing_required_field',
      details: { field: 'filter' },
    })
    for (const input of [
      { filter: { code: 'no_such_code' } },
      { filter: { ids: [] } },
      { filter: { chanel: 'email' } },
      { filter: {}, dryrun: true },
      { filter: { from: 'yesterday' } },
      { filter: {}, ratePerSecond: 0 },
      { filter: {}, most: 0 },
      { filter: {}, dryRun: 'yes' },
    ]) {
      await expect(retry(input as never)).rejects.toMatchObject({ code: 'invalid_parameter' })
    }
    await expect(notifier.deadLetters.list({ from: 'yesterday' })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
  })
})
