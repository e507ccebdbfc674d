import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/services/notifier.ts'
import { recordingChannel } from '../../../src/testing/recording-channel.ts'

/** What plain JavaScript lets through and the types do not. */
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

async function start(): Promise<Notifier> {
  const notifier = createNotifier({ channels: { email: recordingChannel() } })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  return notifier
}

const refusedFor = (field: string) => ({
  code: 'invalid_parameter',
  details: expect.objectContaining({ field }),
})

describe('a wrong type is refused by its name', () => {
  it.each([null, 5, true, ['key'], {}])('as the idempotency key %j, and nothing is stored', async (key) => {
    const notifier = await start()
    const options = { idempotencyKey: key as never }
    for (const call of [() => notifier.send(mail, options), () => notifier.sendBatch([mail], options)])
      await expect(call()).rejects.toMatchObject(refusedFor('Idempotency-Key'))
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it.each([null, 5, {}])('as the organization %j, which is never taken for the default one', async (id) => {
    const notifier = await start()
    const scope = { organizationId: id as never }
    for (const call of [
      () => notifier.send(mail, scope),
      () => notifier.sendBatch([mail], scope),
      () => notifier.validate(mail, scope),
      () => notifier.notifications.list(scope),
      () => notifier.apiKeys.create({ name: 'k', permission: 'Write' }, scope),
      () => notifier.limits.get(scope),
    ])
      await expect(call()).rejects.toMatchObject(refusedFor('organizationId'))
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it('as an organization beside the fields of a message, which would go out for another', async () => {
    const notifier = await start()
    await notifier.organizations.create({ id: 'org_b', name: 'B' })
    const [others, own] = ['org_b', 'org_default'].map((organizationId) => ({ ...mail, organizationId }))
    await expect(notifier.send(others as never)).rejects.toMatchObject(refusedFor('organizationId'))
    await expect(notifier.validate(others as never)).rejects.toMatchObject(refusedFor('organizationId'))
    const { items } = await notifier.sendBatch([others, own] as never[])
    expect(items).toMatchObject([{ error: refusedFor('organizationId') }, { status: 'queued' }])
    await notifier.send(others as never, { organizationId: 'org_b' })
    const stored = await notifier.notifications.list({ organizationId: 'org_b' })
    expect(stored.items).toHaveLength(1)
  })

  it.each([undefined, null, 5, 'Hello'])('as the notification %j', async (wrong) => {
    const notifier = await start()
    await expect(notifier.send(wrong as never)).rejects.toMatchObject(refusedFor('notification'))
    const { items } = await notifier.sendBatch([wrong as never])
    expect(items).toMatchObject([{ error: refusedFor('notification') }])
  })

  it('as the id of a template', async () => {
    const notifier = await start()
    for (const id of [undefined, null, 5] as never[])
      await expect(notifier.templates.get(id)).rejects.toMatchObject({ code: 'template_not_found' })
  })
})

it('a cursor of another list is refused', async () => {
  const notifier = await start()
  for (const name of ['one', 'two']) {
    await notifier.send(mail)
    await notifier.templates.create({ name, channel: 'email', body: 'Hi' })
  }
  const { nextCursor } = await notifier.notifications.list({ limit: 1 })
  const cursor = String(nextCursor)
  expect((await notifier.notifications.list({ limit: 1, cursor })).items).toHaveLength(1)
  for (const list of [notifier.logs.list, notifier.templates.list, notifier.suppressions.list])
    await expect(list({ cursor })).rejects.toMatchObject(refusedFor('cursor'))
})
