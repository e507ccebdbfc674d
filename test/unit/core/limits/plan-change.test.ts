import { expect, it, onTestFinished } from 'vitest'
import { REQUESTS } from '../../../../src/core/limits/route-limits.ts'
import { organizationKind } from '../../../../src/core/tenancy/organization.ts'
import { type Plans, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { servedNotifier } from '../../../../src/served-notifier.ts'
import { fakeClock, settled } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'

it('a plan with another window counts by that window', async () => {
  const clock = fakeClock()
  const notifier = createNotifier({
    clock,
    channels: {},
    overuse: false,
    plans: {
      free: { ...UNLIMITED, requests: { limit: 5, windowMs: 60_000 } },
      fast: { ...UNLIMITED, requests: { limit: 5, windowMs: 1_000 } },
    },
  })
  await notifier.start({ deliver: false })
  const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
  const admit = () => servedNotifier(notifier).limits.admit({ organizationId }, REQUESTS)
  for (let count = 0; count < 5; count += 1) await admit()
  await notifier.organizations.update(organizationId, { plan: 'fast' })
  for (let second = 0; second < 3; second += 1) {
    for (let count = 0; count < 5; count += 1) await admit()
    await expect(admit()).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    await clock.advance(1_000)
  }
  await notifier.stop()
})

it('a notification that is cancelled still counts for the hour and the month', async () => {
  const plans = { free: { ...UNLIMITED, notificationsPerHour: 5, notificationsPerMonth: 9 } }
  const notifier = createNotifier({ channels: { email: recordingProvider() }, plans })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
  const acme = notifier.organization(organizationId)
  const { id } = await acme.send({ channel: 'email', to: 'ada@example.com', text: 'Hi' })
  await acme.notifications.cancel(id)
  expect((await acme.limits.get()).limits).toMatchObject({
    notificationsPerHour: { remaining: 4 },
    notificationsPerMonth: { remaining: 8 },
  })
})

it('an organization whose plan is no longer there keeps limits, whatever plans there are', async () => {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const gold = { ...UNLIMITED, notificationsPerHour: 7 }
  const planOf = async (organizationId: string, plans: Plans) => {
    const notifier = createNotifier({ clock, storage, channels: {}, plans })
    await notifier.start({ deliver: false })
    const { plan, limits } = await notifier.organization(organizationId).limits.get()
    return [plan, limits.notificationsPerHour?.limit]
  }
  const first = createNotifier({ clock, storage, channels: {}, plans: { gold } })
  await first.start({ deliver: false })
  const { id: named } = await first.organizations.create({ name: 'Acme', plan: 'gold' })
  const { id: without } = await first.organizations.create({ name: 'Acme' })
  expect(await planOf(named, { gold })).toEqual(['gold', 7])
  expect(await planOf(named, { free: { ...gold, notificationsPerHour: 3 } })).toEqual(['free', 3])
  expect(await planOf(named, { silver: gold })).toEqual(['free', 1_000])
  expect(await planOf(without, { silver: gold })).toEqual(['unlimited', undefined])
})

it('a plan holds from its change on, also for who was just being looked up', async () => {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const gates: Promise<void>[] = []
  watchReads(storage, organizationKind, async (inner) => {
    const gate = gates.shift()
    const found = await inner()
    await gate
    return found
  })
  const plans = { free: { ...UNLIMITED, notificationsPerHour: 1 }, gold: UNLIMITED }
  const notifier = createNotifier({ clock, storage, channels: {}, plans })
  await notifier.start({ deliver: false })
  const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
  let open = (): void => {}
  gates.push(new Promise((resolve) => (open = resolve)))
  const before = notifier.organization(organizationId).limits.get()
  await settled()
  await notifier.organizations.update(organizationId, { plan: 'gold' })
  open()
  expect((await before).plan).toBe('free')
  expect((await notifier.organization(organizationId).limits.get()).plan).toBe('gold')
  await notifier.stop()
})
