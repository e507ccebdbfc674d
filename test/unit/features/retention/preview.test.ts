import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExpireRequest } from '../../../../src/core/ports/storage/expire.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Order 4711' } as const

async function start(deliver = true) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const steps: ExpireRequest[] = []
  const passes: unknown[] = []
  const channel = recordingProvider({ maxConcurrent: 1_000 })
  const notifier = createNotifier({
    channels: { email: channel },
    storage: {
      ...storage,
      expire(request) {
        if (request.what.dryRun) steps.push(request)
        return storage.expire(request)
      },
    },
    clock,
    logger: {
      debug() {},
      info: (_message, fields) => void passes.push(fields),
      warn() {},
      error() {},
    },
    delivery: { pollMs: 30 * DAY },
    retention: { contentDays: 1, logDays: 30 },
    plans: { short: { ...UNLIMITED, retention: { logDays: 3 } } },
  })
  await notifier.start({ deliver })
  onTestFinished(() => notifier.stop())
  return { clock, notifier, steps, passes, channel }
}

describe('the preview of retention', () => {
  it('counts what the next pass removes, and says what sets the days', async () => {
    const { clock, notifier, passes, channel } = await start()
    await notifier.organizations.create({ id: 'org_plan', name: 'Plan', plan: 'short' })
    const own = { contentDays: 20, logDays: 20 }
    await notifier.organizations.create({ id: 'org_own', name: 'Own', plan: 'short', retention: own })
    const { preview } = notifier.organization('org_plan').retention
    const since = new Date(clock.now()).toISOString()
    await notifier.organization('org_plan').sendBatch([mail, mail])
    await notifier.send({ ...mail, sendAt: new Date(clock.now() + 60 * DAY) })
    for (const id of ['org_own', 'org_default']) await notifier.organization(id).send(mail)
    await clock.until(() => channel.calls.length === 4)
    const none = { removes: 0, exact: true, oldest: null }
    expect(await preview()).toEqual({
      at: new Date(clock.now()).toISOString(),
      contents: { days: 1, source: 'service', ...none },
      notifications: { days: 3, source: 'plan', ...none },
    })
    expect(await notifier.organization('org_own').retention.preview()).toMatchObject({
      contents: { days: null, source: 'organization' },
      notifications: { days: 20, source: 'organization' },
    })
    // No pass runs in this hour.
    clock.correct(DAY)
    await clock.advance(11_000)
    const oldest = since
    expect(await preview()).toMatchObject({
      contents: { removes: 2, exact: true, oldest },
      notifications: none,
    })
    expect(await notifier.retention.preview()).toMatchObject({ contents: { days: 1, removes: 1, oldest } })
    expect(await notifier.allOrganizations.retention.preview()).toMatchObject({
      contents: { days: 1, source: 'service', removes: 3, exact: true, oldest },
      notifications: { days: 30, source: 'service', ...none },
    })
    passes.length = 0
    await clock.until(() => passes.length > 0)
    expect(passes).toEqual([expect.objectContaining({ contents: 3, notifications: 0 })])
    await clock.advance(11_000)
    expect(await notifier.allOrganizations.retention.preview()).toMatchObject({ contents: none })
    clock.correct(2 * DAY)
    await clock.advance(11_000)
    expect(await preview()).toMatchObject({
      contents: none,
      notifications: { removes: 2, exact: true, oldest },
    })
  })

  it('looks at a bounded part, and says so', async () => {
    const { clock, notifier, steps, channel } = await start()
    await notifier.organizations.update('org_default', { retention: { logDays: 1 } })
    for (let batch = 0; batch < 2; batch += 1)
      await notifier.sendBatch(Array.from({ length: 5_050 }, () => mail))
    await clock.until(() => channel.calls.length === 10_100)
    clock.correct(DAY)
    expect((await notifier.retention.preview()).notifications).toMatchObject({
      removes: 10_000,
      exact: false,
    })
    expect(steps).toHaveLength(100)
    expect(steps.every(({ most }) => most === 100)).toBe(true)
  })

  it('reads once for calls within ten seconds, until the days change', async () => {
    const { clock, notifier, steps } = await start()
    const { preview } = notifier.retention
    const [one, other] = await Promise.all([preview(), preview()])
    expect(one).toEqual(other)
    const once = steps.length
    await preview()
    expect(steps).toHaveLength(once)
    await notifier.organizations.update('org_default', { retention: { logDays: 5 } })
    expect((await preview()).notifications).toMatchObject({ days: 5, source: 'organization' })
    expect(steps).toHaveLength(2 * once)
    await clock.advance(10_000)
    await preview()
    expect(steps).toHaveLength(3 * once)
  })

  it('is refused for an organization that does not exist, without a look at the rows', async () => {
    const { notifier, steps } = await start()
    await expect(notifier.organization('org_none').retention.preview()).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(steps).toEqual([])
  })
})
