import { describe, expect, it } from 'vitest'
import { uploadKind } from '../../../../src/core/accept/upload.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { servedNotifier } from '../../../../src/served-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const FULL = { code: 'storage_quota_exceeded', status: 422 }
const LIMIT = 20_000
const ada = { channel: 'email', to: 'ada@example.com' } as const

/** An organization that has used its budget up. */
async function full() {
  const world = notifierWorld()
  const email = recordingProvider()
  const notifier = await world.start({
    channels: { email },
    publicUrl: 'https://example.com',
    plans: { free: { ...UNLIMITED, storedBytes: LIMIT } },
  })
  await notifier.organizations.create({ id: 'org_a', name: 'A' })
  const tenant = notifier.organization('org_a')
  await tenant.categories.create({ id: 'news', name: 'News' })
  const quietHours = { zone: 'Europe/Paris', windows: [{ from: '22:00', to: '07:00' }] }
  for (const id of ['night', 'late']) await tenant.categories.create({ id, name: id, quietHours })
  await tenant.preferences.change({ recipient: 'user:1' }, { categories: { news: false } })
  for (const name of ['kept', 'other']) await tenant.templates.create({ name, channel: 'email', body: 'Hi' })
  const used = () => world.storage.records.stored('org_a')
  const value = { filename: '', contentType: 'a/b', size: 1, complete: true }
  const empty = JSON.stringify(value).length + 200
  const rest = { ...value, filename: 'x'.repeat(LIMIT - (await used()) - empty) }
  const taken = { kind: uploadKind, do: 'insert', id: 'att_rest', organizationId: 'org_a' } as const
  await world.storage.records.write([[{ ...taken, value: rest }]])
  expect(await used()).toBe(LIMIT)
  return { world, notifier, tenant, used, email }
}

describe('an organization that stores as much as its plan allows', () => {
  it('can store no more of anything', async () => {
    const { tenant } = await full()
    const large = 'x'.repeat(2_000)
    for (const refused of [
      () => tenant.templates.create({ name: 'one-more', channel: 'email', body: large }),
      () => tenant.templates.update('kept', { body: large }),
      () => tenant.layouts.create({ name: 'frame', html: `${large}{{{content}}}` }),
      () => tenant.preferences.change({ recipient: 'user:2' }, { categories: { news: true } }),
      () => tenant.attachments.upload(Buffer.from(large), { filename: 'a.txt', contentType: 'text/plain' }),
    ])
      await expect(refused()).rejects.toMatchObject(FULL)
    expect(await tenant.templates.get('kept')).toMatchObject({ body: 'Hi' })
  })

  it('still hears every opt-out, sends, and deletes', async () => {
    const { tenant, used, world, email, notifier } = await full()
    await tenant.suppressions.add({ ...ada, reason: 'manual' })
    await expect(tenant.send({ ...ada, body: 'Hi' })).rejects.toMatchObject({ code: 'blocked_recipient' })
    await tenant.send({ channel: 'email', to: 'eve@example.com', template: 'kept' })
    await tenant.preferences.change({ recipient: 'user:2' }, { categories: { news: false } })
    const to = 'eve@example.com'
    await tenant.send({ channel: 'email', to, body: 'News', category: 'news' })
    await world.clock.advance(60_000)
    const link = email.messages.find((message) => message.body === 'News')?.email?.unsubscribeUrl ?? ''
    await servedNotifier(notifier).pages.unsubscribe(new URL(link).searchParams.get('t') ?? '')
    const heard = await tenant.preferences.get({ channel: 'email', to })
    expect(heard.categories).toMatchObject({ news: { email: false } })
    const before = await used()
    await tenant.templates.delete('other')
    expect(await used()).toBeLessThan(before)
  })

  it('can still shorten and delete a category with quiet hours, whose messages are judged again', async () => {
    const { tenant } = await full()
    expect(await tenant.categories.update('night', { quietHours: null })).toMatchObject({ quietHours: null })
    await tenant.categories.delete('late')
    await tenant.categories.delete('night')
  })

  it('can still replace its keys, and reads what gives bytes back', async () => {
    const { tenant, used } = await full()
    const old = await tenant.apiKeys.create({ name: 'old', permission: 'Write' })
    const before = await used()
    expect(before).toBeGreaterThan(LIMIT)
    await tenant.apiKeys.create({ name: 'new', permission: 'Write' })
    await tenant.apiKeys.delete(old.id)
    expect(await used()).toBe(before)
    const refused = tenant.templates.create({ name: 'more', channel: 'email', body: 'Hi' })
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('their versions stay') })
  })

  it('sees in its limits what is left', async () => {
    const { tenant, notifier, used } = await full()
    const limit = LIMIT
    expect((await tenant.limits.get()).limits.storedBytes).toEqual({
      limit,
      used: await used(),
      remaining: limit - (await used()),
    })
    expect((await notifier.limits.get()).limits.storedBytes).toBeNull()
  })
})
