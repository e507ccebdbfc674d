import { inspect } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { notifierHandler } from '../../../../adapters/http/node.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import { servedNotifier } from '../../../../src/served-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const channels = { email: recordingProvider() }

async function start(): Promise<Notifier> {
  const notifier = createNotifier({ channels })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  for (const id of ['org_a', 'org_b']) await notifier.organizations.create({ id, name: id })
  return notifier
}

/** Names of everything that can be called, with the group that it is in. */
function names(api: object, path = ''): string[] {
  return Object.entries(api)
    .flatMap(([name, each]) => (typeof each === 'function' ? [path + name] : names(each, `${path + name}.`)))
    .sort()
}

it('an organization has the whole API of the notifier itself, and sees its own things only', async () => {
  const notifier = await start()
  const [a, b] = [notifier.organization('org_a'), notifier.organization('org_b')]
  const { id } = await a.send(mail)
  const own = await notifier.send(mail)
  await a.templates.create({ name: 'hi', channel: 'email', body: 'Hi' })
  expect((await a.notifications.list()).items.map((each) => each.id)).toEqual([id])
  expect((await b.notifications.list()).items).toEqual([])
  expect((await notifier.notifications.list()).items.map((each) => each.id)).toEqual([own.id])
  await expect(b.notifications.get(id)).rejects.toMatchObject({
    code: 'organization_mismatch',
    message: expect.stringContaining('in code, notifier.organization(id)'),
  })
  await expect(notifier.templates.get('hi')).rejects.toMatchObject({ code: 'template_not_found' })
  const { secret } = await a.apiKeys.create({ name: 'k', permission: 'Write' })
  expect((await notifier.apiKeys.verify(secret)).organizationId).toBe('org_a')
  expect((await a.limits.get()).organizationId).toBe('org_a')
})

it('a template of another organization is missing in an error that names where it was looked for', async () => {
  const notifier = await start()
  await notifier.templates.create({ name: 'hi', channel: 'email', body: 'Hi' })
  for (const message of [
    { to: mail.to, template: 'hi' },
    { to: mail.to, template: 'hi', channel: 'email' as const },
  ])
    await expect(notifier.organization('org_a').send(message)).rejects.toMatchObject({
      code: 'template_not_found',
      message:
        'The organization "org_a" has no template "hi". Templates belong to one organization: create it in this one, or check its name or id.',
    })
})

it('the methods of an organization work alone', async () => {
  const { send, notifications } = (await start()).organization('org_a')
  const { list } = notifications
  const { id } = await send(mail)
  expect((await list({ limit: 1 })).items[0]?.id).toBe(id)
})

it('with organizations: "required" no call is left that means the default one', async () => {
  const strict = createNotifier({ channels, organizations: 'required' })
  await strict.start({ deliver: false })
  onTestFinished(() => strict.stop())
  const tenant = names(strict.organization('org_a'))
  const both = names({ ...createNotifier({ channels }), internals: {} })
  expect(tenant).toContain('deadLetters.list')
  expect(tenant.filter((name) => !both.includes(name))).toEqual([])
  const left = names({ ...strict, internals: {} })
  expect(left.filter((name) => tenant.includes(name))).toEqual([])
  expect([...left, ...tenant].sort()).toEqual(both)
  for (const name of ['send', 'templates', 'limits'] as const)
    expect(() => (strict as Notifier)[name]).toThrow(`use notifier.organization(id).${name}.`)
  expect(() => [inspect(strict), JSON.stringify(strict)]).not.toThrow()
  await strict.organizations.create({ id: 'org_a', name: 'A' })
  expect((await strict.organization('org_a').send(mail)).status).toBe('queued')
  // The REST API names the organization of the key.
  expect(typeof notifierHandler(strict)).toBe('function')
  expect((await servedNotifier(strict).tenants.notifications.list('org_a')).items).toHaveLength(1)
})

it.each(['need', null, true])('organizations: %j is refused', (organizations) => {
  expect(() => createNotifier({ channels, organizations: organizations as never })).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', details: { option: 'organizations' } }),
  )
})
