import { expect, it, onTestFinished, vi } from 'vitest'
import type { DueHandler, DueResult } from '../../src/core/due/due-records.ts'
import type { AnyFeature, FeatureCore } from '../../src/core/feature.ts'
import type { RecordStore } from '../../src/core/records/record-stores.ts'
import { perMinutePlans, UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { type Reminder, reminderKind } from '../../src/testing/storage/record-fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { openStorage } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'

type Handle = DueHandler<Reminder>['handle']
const { handle, made } = vi.hoisted(() => ({
  handle: vi.fn<Handle>(),
  made: { reminders: undefined as RecordStore<Reminder> | undefined },
}))

/** A feature whose records fall due, and send. */
vi.mock('../../src/features/index.ts', async (original) => {
  const { FEATURES } = await original<{ readonly FEATURES: readonly AnyFeature[] }>()
  const reminders: AnyFeature = {
    name: 'reminders',
    create({ stores }: FeatureCore) {
      made.reminders = stores.of(reminderKind)
      return { api: {}, due: [{ kind: reminderKind, handle }] }
    },
  }
  return { FEATURES: [...FEATURES, reminders] }
})

const MONTHLY = 2
const ID = 'reminder'
const to = (address: string) => ({ channel: 'email', to: address, subject: 'Hi', body: 'Hello' }) as const

describeEachWith(STORAGES, whyNoStorage, 'a record that falls due on %s and sends', (_name, location) => {
  /** @param result what becomes of the reminder, beside its removal */
  async function start(result: (reminders: RecordStore<Reminder>) => Promise<Partial<DueResult>>) {
    handle.mockReset().mockImplementation(async ({ record: { id }, token }) => ({
      writes: [{ kind: reminderKind, do: 'remove', id, token }],
      ...(await result(reminders)),
    }))
    const storage = openStorage(await location())
    const provider = recordingProvider()
    const notifier = createNotifier({
      channels: { email: provider },
      storage,
      delivery: { pollMs: 20 },
      plans: {
        ...perMinutePlans,
        tiny: { ...UNLIMITED, notificationsPerMonth: MONTHLY, notificationsPerHour: 10 },
      },
    })
    const errors: string[] = []
    notifier.on('error', ({ message }) => void errors.push(message))
    onTestFinished(() => notifier.stop())
    await notifier.start()
    const reminders = made.reminders as RecordStore<Reminder>
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme', plan: 'tiny' })
    const tenant = notifier.organization(organizationId)
    return {
      provider,
      errors,
      tenant,
      remind: () => reminders.insert({ id: ID, organizationId, value: { at: 0 } }),
      left: async () => (await reminders.find({ id: ID })) !== null,
      sent: async () => (await tenant.notifications.list()).items.map((item) => item.to).sort(),
      async used() {
        const { notificationsPerHour: hour, notificationsPerMonth: month } = (await tenant.limits.get())
          .limits
        return [hour?.used, month?.used]
      },
    }
  }

  it('ends with the accept of all its messages', async () => {
    const world = await start(async () => ({ sends: [to('ada@example.com'), to('alan@example.com')] }))
    await world.remind()
    await eventually(() => world.provider.messages.length === 2)
    expect(await world.left()).toBe(false)
    expect(await world.sent()).toEqual(['ada@example.com', 'alan@example.com'])
    expect(await world.used()).toEqual([2, 2])
    expect(handle).toHaveBeenCalledOnce()
    expect(world.errors).toEqual([])
  })

  it.each([
    ['a recipient is suppressed', [to('ada@example.com'), to('off@example.com')], 'suppress'],
    ['a message is invalid', [to('ada@example.com'), to('nobody')], 'e-mail'],
    [
      'the quota is reached',
      [to('ada@example.com'), to('alan@example.com'), to('grace@example.com')],
      'quota',
    ],
  ])('stays under its lease and sends nothing if %s, and the fault says so', async (_why, sends, reason) => {
    const world = await start(async () => ({ sends }))
    await world.tenant.suppressions.add({ channel: 'email', to: 'off@example.com' })
    await world.remind()
    await eventually(() => world.errors.length > 0)
    expect(world.errors).toEqual([
      expect.stringMatching(new RegExp(`"${ID}".*attempt 1.*${reason}.*handed out again`, 'is')),
    ])
    expect(await world.left()).toBe(true)
    expect(await world.sent()).toEqual([])
    expect(await world.used()).toEqual([0, 0])
    expect(handle).toHaveBeenCalledOnce()
  })

  it('sends nothing if it is cancelled before its result is stored', async () => {
    const world = await start(async (reminders) => {
      await reminders.remove(ID)
      return { sends: [to('ada@example.com')] }
    })
    await world.remind()
    await eventually(() => handle.mock.settledResults.length === 1)
    // Another one shows that the first one's result was decided.
    handle.mockImplementation(async ({ record: { id }, token }) => ({
      writes: [{ kind: reminderKind, do: 'remove', id, token }],
      sends: [to('grace@example.com')],
    }))
    await world.remind()
    await eventually(() => world.provider.messages.length === 1)
    expect(await world.sent()).toEqual(['grace@example.com'])
    expect(world.errors).toEqual([])
  })
})
