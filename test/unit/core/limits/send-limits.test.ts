import { afterEach, describe, expect, it } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { memoryRateLimiter } from '../../../../src/core/limits/memory-rate-limiter.ts'
import type { RateLimiter } from '../../../../src/core/ports/rate-limiter.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { type Plan, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import type { Tenant } from '../../../../src/tenant.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const mails = (count: number) => Array.from({ length: count }, () => mail)
const organizationId = 'org_a'

const running: Notifier[] = []
afterEach(async () => {
  for (const notifier of running.splice(0)) await notifier.stop()
})

interface World {
  readonly tenant: Tenant
  /** What is counted of the hour. */
  used(): Promise<number | undefined>
  /** What the storage does with the next accepts in place of storing them. */
  refuse:
    | ((store: Storage['accept'], request: Parameters<Storage['accept']>[0]) => ReturnType<Storage['accept']>)
    | null
}

async function start(plan: Partial<Plan>, change: Partial<RateLimiter> = {}): Promise<World> {
  const clock = fakeClock()
  const base = inMemory(clock)
  const notifier = createNotifier({
    clock,
    storage: {
      ...base,
      accept: (requests) =>
        world.refuse === null ? base.accept(requests) : world.refuse(base.accept, requests),
    },
    rateLimiter: { ...memoryRateLimiter({ clock }), ...change },
    channels: { email: recordingProvider() },
    plans: { free: { ...UNLIMITED, notificationsPerHour: 10, ...plan } },
  })
  const tenant = notifier.organization(organizationId)
  const world: World = {
    tenant,
    used: async () => (await tenant.limits.get()).limits.notificationsPerHour?.used,
    refuse: null,
  }
  running.push(notifier)
  await notifier.start({ deliver: false })
  await notifier.organizations.create({ id: organizationId, name: 'A', plan: 'free' })
  return world
}

const away = async (): Promise<never> => {
  throw new NotifierError('service_unavailable')
}
const unavailable = expect.objectContaining({ code: 'service_unavailable' })

describe('the hour', () => {
  it('does not count what a storage that is away did not store', async () => {
    const world = await start({})
    const { tenant } = world
    await tenant.send(mail)
    world.refuse = away
    for (let call = 0; call < 20; call += 1) {
      await expect(tenant.send(mail)).rejects.toEqual(unavailable)
      await expect(tenant.sendBatch(mails(9))).rejects.toEqual(unavailable)
    }
    expect(await world.used()).toBe(1)
    world.refuse = null
    expect((await tenant.sendBatch(mails(9))).accepted).toBe(9)
    expect(await world.used()).toBe(10)
  })

  it('does not count what the month refuses', async () => {
    const world = await start({ notificationsPerMonth: 3 })
    const { tenant } = world
    expect((await tenant.sendBatch(mails(5))).accepted).toBe(3)
    expect(await world.used()).toBe(3)
    for (let call = 0; call < 20; call += 1) {
      await expect(tenant.send(mail)).rejects.toMatchObject({
        code: 'notification_quota_exceeded',
      })
    }
    expect(await world.used()).toBe(3)
  })

  it('counts once what two processes were asked for under one key', async () => {
    const world = await start({})
    const { tenant } = world
    let first: Promise<unknown> | undefined
    // The other process has stored it by the time that this one gets to it.
    world.refuse = async (store, requests) => {
      world.refuse = null
      first = store(requests)
      await first
      return store(requests)
    }
    const { replayed } = await tenant.send(mail, { idempotencyKey: 'k' })
    expect([first !== undefined, replayed]).toEqual([true, true])
    expect(await world.used()).toBe(0)
    expect((await tenant.sendBatch(mails(2), { idempotencyKey: 'b' })).accepted).toBe(2)
    expect((await tenant.sendBatch(mails(2), { idempotencyKey: 'b' })).replayed).toBe(true)
    expect(await world.used()).toBe(2)
  })

  it('takes back nothing of what was not counted', async () => {
    const refunds: number[] = []
    const world = await start(
      {},
      {
        consume: async (checks) => ({
          allowed: true,
          states: checks.map((check) => {
            const granted = check.kind === 'window' ? check.cost : 0
            return { allowed: true, granted, remaining: 5, resetInMs: 0, retryAfterMs: 0 }
          }),
          uncounted: true,
        }),
        refund: async (_check, units) => {
          refunds.push(units)
        },
      },
    )
    world.refuse = away
    await expect(world.tenant.send(mail)).rejects.toEqual(unavailable)
    expect(refunds).toEqual([])
  })

  it('says why nothing was stored, also where the units cannot be taken back', async () => {
    const refund = (): Promise<never> => Promise.reject(new Error('the limiter is away, too'))
    const world = await start({}, { refund })
    world.refuse = away
    await expect(world.tenant.send(mail)).rejects.toEqual(unavailable)
    expect(await world.used()).toBe(1)
  })
})
