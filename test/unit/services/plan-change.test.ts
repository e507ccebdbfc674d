import { expect, it } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import { UNLIMITED } from '../../../src/domain/plans.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'

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
  const admit = () => notifier.limits.admit({ organizationId }, 'requests')
  for (let count = 0; count < 5; count += 1) await admit()
  await notifier.organizations.update(organizationId, { plan: 'fast' })
  for (let second = 0; second < 3; second += 1) {
    for (let count = 0; count < 5; count += 1) await admit()
    await expect(admit()).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    await clock.advance(1_000)
  }
  await notifier.stop()
})
