import { expect, it } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { type Plan, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import type { Tenant } from '../../../../src/tenant.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierOverStorage } from '../../../support/notifier-over-storage.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const id = 'org_a'

async function start(plan: Partial<Plan> = {}) {
  const { start } = notifierWorld()
  const options = { channels: { email: recordingProvider() }, plans: { free: { ...UNLIMITED, ...plan } } }
  const [notifier, other] = [await start(options), await start(options)]
  await notifier.organizations.create({ id, name: 'A' })
  return { notifier, other, tenant: notifier.organization(id) }
}

const errorOf = (call: Promise<unknown>): Promise<NotifierError> =>
  call.then(
    () => expect.unreachable('It was not refused.'),
    (error) => error,
  )

/** The error of a validation. The send is refused with the same code. */
async function refusalOf(tenant: Tenant): Promise<NotifierError> {
  const refusal = await errorOf(tenant.validate(mail))
  expect((await errorOf(tenant.send(mail))).code).toBe(refusal.code)
  return refusal
}

const storedOf = async (notifier: Notifier): Promise<number> =>
  (await notifier.organization(id).notifications.list()).items.length

it('a validation counts nothing, and is refused by the month as the send is', async () => {
  const { notifier, tenant } = await start({ notificationsPerHour: 5, notificationsPerMonth: 2 })
  for (let call = 0; call < 10; call += 1) await tenant.validate(mail)
  expect((await tenant.limits.get()).limits).toMatchObject({
    notificationsPerHour: { used: 0 },
    notificationsPerMonth: { used: 0 },
  })
  await tenant.sendBatch([mail, mail])
  expect(await refusalOf(tenant)).toMatchObject({ code: 'notification_quota_exceeded' })
  expect(await storedOf(notifier)).toBe(2)
})

it('a validation is refused by the hour before the month', async () => {
  const { tenant } = await start({ notificationsPerHour: 1, notificationsPerMonth: 1 })
  await tenant.send(mail)
  expect(await refusalOf(tenant)).toMatchObject({ details: { resource: 'hourly_notifications' } })
})

it('a validation finds an organization gone that another process deleted a moment ago', async () => {
  const { tenant, other } = await start()
  await tenant.validate(mail)
  await other.organizations.delete(id)
  expect(await refusalOf(tenant)).toMatchObject({ code: 'not_found' })
})

it('a validation is refused while the storage can store nothing', async () => {
  const failure = new NotifierError('service_unavailable', { message: 'The disk is full.' })
  const { notifier } = notifierOverStorage({ check: () => Promise.reject(failure) })
  await notifier.start()
  await expect(notifier.validate(mail)).rejects.toBe(failure)
  await notifier.stop()
})
