import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExpireRequest } from '../../../../src/core/ports/storage/expire.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function world(options: Partial<NotifierOptions> = {}) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const steps: (string | undefined)[] = []
  let failing = false
  const observed = {
    ...storage,
    async expire(request: ExpireRequest) {
      if (request.what.contentsOlderThanMs !== undefined) {
        steps.push(request.after)
        if (failing && steps.length > 1) throw new Error('The process is gone.')
      }
      return storage.expire(request)
    },
    // Several notifiers share it.
    async stop() {},
  }
  const channel = recordingProvider({ maxConcurrent: 1_000 })
  async function start() {
    const notifier = createNotifier({
      channels: { email: channel },
      storage: observed,
      clock,
      delivery: { pollMs: 30 * DAY },
      retention: { contentDays: 1, logDays: 3 },
      plans: {},
      ...options,
    })
    await notifier.start()
    onTestFinished(() => notifier.stop())
    return notifier
  }
  onTestFinished(() => storage.stop())
  const fail = (is: boolean): void => {
    failing = is
  }
  return { clock, start, steps, channel, fail }
}

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Order 4711' } as const

describe('the content of a notification', () => {
  it('ends before its record, and says when and why', async () => {
    const { clock, start } = world()
    const notifier = await start()
    const { get, resend, list } = notifier.notifications
    const { id } = await notifier.send(mail)
    const late = await notifier.send({ ...mail, sendAt: new Date(clock.now() + 10 * DAY) })
    await clock.advance(DAY - HOUR)
    expect((await get(id, { rendered: true })).rendered).toMatchObject({ body: 'Order 4711' })
    await clock.advance(2 * HOUR)
    const removedAt = expect.stringMatching(/^\d{4}-/)
    const refused = { code: 'content_removed', details: { reason: 'retention', removedAt } }
    await expect(get(id, { rendered: true })).rejects.toMatchObject(refused)
    await expect(resend(id)).rejects.toMatchObject(refused)
    const { subject, status, timeline } = await get(id)
    expect([subject, status, timeline.length]).toEqual([null, 'sent', 2])
    expect((await get(late.id, { rendered: true })).rendered).toMatchObject({ body: 'Order 4711' })
    await clock.advance(2 * DAY)
    expect((await list()).items.map((each) => each.id)).toEqual([late.id])
  })

  it('has the days of the organization, else of the plan, and ends with the record at the latest', async () => {
    const retention = { contentDays: 2 }
    const { clock, start } = world({ plans: { two: { ...UNLIMITED, retention } } })
    const notifier = await start()
    const own = { contentDays: 4, logDays: 9 }
    await notifier.organizations.create({ id: 'org_plan', name: 'Plan', plan: 'two' })
    await notifier.organizations.create({ id: 'org_own', name: 'Own', plan: 'two', retention: own })
    const all = ['org_default', 'org_plan', 'org_own'].map((id) => notifier.organization(id))
    for (const each of all) await each.send(mail)
    const left = () =>
      Promise.all(
        all.map(async ({ notifications }) =>
          (await notifications.list()).items.map(({ subject }) => subject),
        ),
      )
    await clock.advance(DAY + 2 * HOUR)
    expect(await left()).toEqual([[null], ['Hi'], ['Hi']])
    await clock.advance(DAY)
    expect(await left()).toEqual([[null], [null], ['Hi']])
    await clock.advance(DAY)
    expect(await left()).toEqual([[], [], ['Hi']])
    await clock.advance(DAY)
    expect(await left()).toEqual([[], [], [null]])
  })

  it('is looked at once: the next run, in another process too, goes on where one ended', async () => {
    const { clock, start, steps, channel, fail } = world()
    const first = await start()
    await first.sendBatch(Array.from({ length: 250 }, () => mail))
    await clock.until(() => channel.calls.length === 250)
    fail(true)
    clock.correct(DAY)
    await clock.until(() => steps.length === 2)
    await first.stop()
    const [, reached] = steps
    expect(reached).toBeTypeOf('string')
    fail(false)
    const second = await start()
    steps.length = 0
    await clock.until(() => steps.length > 0)
    expect(steps[0]).toBe(reached)
    await clock.advance(HOUR)
    const { items } = await second.notifications.list({ limit: 100 })
    expect(new Set(items.map(({ subject }) => subject))).toEqual(new Set([null]))
    steps.length = 0
    await clock.advance(2 * HOUR)
    expect(steps).toHaveLength(2)
    expect(new Set(steps).size).toBe(1)
    expect(steps[0]).toBeTypeOf('string')
  })

  it('is not looked for if it does not end before its record', async () => {
    const { clock, start, steps } = world({ retention: { contentDays: 90, logDays: 90 } })
    await (await start()).send(mail)
    await clock.advance(3 * HOUR)
    expect(steps).toEqual([])
  })
})
