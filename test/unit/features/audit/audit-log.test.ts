import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { AuditEntry, AuditLogQuery } from '../../../../src/features/audit/model.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const template = { name: 'welcome', channel: 'email', body: 'A text that no entry shows.' } as const

async function start(options: Partial<NotifierOptions> = {}) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const notifier = createNotifier({ storage, clock, channels: { email: recordingProvider() }, ...options })
  await notifier.start()
  onTestFinished(() => notifier.stop())
  const actions = async () => (await notifier.auditLog.list()).items.map(({ action }) => action)
  return { clock, storage, notifier, actions }
}

describe('an entry', () => {
  it('names what was changed, with values of harmless fields only', async () => {
    const { notifier, clock } = await start()
    const { id } = await notifier.templates.create(template)
    await notifier.templates.update('welcome', { body: 'Another secret text', name: 'hello' })
    const { items } = await notifier.auditLog.list()
    const at = new Date(clock.now()).toISOString()
    const code = { type: 'code', id: 'code', name: null }
    const common = { organizationId: 'org_default', at, actor: code, origin: null }
    expect(items).toEqual([
      {
        ...common,
        id: expect.stringMatching(/^aud_/),
        action: 'template.updated',
        target: { kind: 'template', id, name: 'hello' },
        changed: [
          { field: 'name', before: 'welcome', after: 'hello' },
          { field: 'body' },
          { field: 'version', before: 1, after: 2 },
        ],
      },
      expect.objectContaining({
        action: 'template.created',
        target: { kind: 'template', id, name: 'welcome' },
        changed: expect.arrayContaining([{ field: 'channel', after: 'email' }, { field: 'body' }]),
      }),
    ])
  })

  it('has no secret, no address and no id of a person', async () => {
    const { notifier } = await start({ webhooks: { allowHttp: true } })
    const { secret } = await notifier.apiKeys.create({
      name: 'k',
      permission: 'Write',
      allowedIps: ['192.0.2.7'],
    })
    const url = 'https://example.com/a-secret-path'
    const endpoint = await notifier.webhooks.create({ url })
    const rotated = await notifier.webhooks.rotateSecret(endpoint.id)
    await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com', source: 'a note' })
    await notifier.preferences.change({ recipient: 'user:42' }, { channels: { email: false } })
    await notifier.preferences.change(
      { channel: 'email', to: 'ada@example.com' },
      { channels: { email: false } },
    )
    const { items } = await notifier.auditLog.list()
    expect(items).toHaveLength(6)
    const shown = JSON.stringify(items)
    const hidden = [secret, endpoint.secret, rotated.secret, url, 'ada', 'user:42', 'a note', '192.0.2.7']
    for (const each of hidden) expect(shown).not.toContain(each)
  })

  it('is made of a change alone: what changes nothing, or is refused, makes none', async () => {
    const { notifier, actions } = await start()
    await notifier.templates.create(template)
    await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com' })
    const before = await actions()
    await notifier.templates.update('welcome', { name: 'welcome' })
    await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com' })
    await notifier.preferences.change({ recipient: 'ada' }, { channels: { email: null } })
    await notifier.organizations.update('org_default', { name: 'Default' })
    await expect(notifier.templates.create(template)).rejects.toThrow('exists')
    await expect(notifier.suppressions.remove({ channel: 'email', to: 'bob@example.com' })).rejects.toThrow()
    await expect(notifier.apiKeys.delete('key_unknown')).rejects.toThrow()
    expect(await actions()).toEqual(before)
  })

  it('is made by one of two that remove the same, and goes with what finds no room', async () => {
    const { notifier } = await start()
    const { apiKeys, categories } = notifier
    const counts = async (action: AuditEntry['action']) => {
      const { items } = await notifier.auditLog.list({ action, limit: 100 })
      return items.length
    }
    await categories.create({ id: 'news', name: 'News' })
    await Promise.allSettled([1, 2, 3].map(() => categories.delete('news')))
    expect(await counts('category.deleted')).toBe(1)

    const key = { name: 'k', permission: 'Write' } as const
    await Promise.all(Array.from({ length: 998 }, () => apiKeys.create(key)))
    const made = (await apiKeys.list({ limit: 1 })).items[0]?.id
    const late = await Promise.allSettled(
      Array.from({ length: 5 }, () => notifier.actingAs('late', () => apiKeys.create(key))),
    )
    expect(late.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    const { items } = await apiKeys.list()
    const stored = items
      .slice(
        0,
        items.findIndex(({ id }) => id === made),
      )
      .map(({ id }) => id)
    const entries = await notifier.auditLog.list({ actor: 'late' })
    expect(entries.items.map(({ target }) => target.id)).toEqual(stored)
  })

  it('shows the days of an organization before and after', async () => {
    const { notifier } = await start()
    for (const retention of [{ logDays: 30 }, { logDays: 60 }, null])
      await notifier.organizations.update('org_default', { retention })
    const { items } = await notifier.auditLog.list({ action: 'organization.updated' })
    expect(items.flatMap(({ changed }) => changed)).toEqual([
      { field: 'retention', before: '{"contentDays":null,"logDays":60}', after: null },
      {
        field: 'retention',
        before: '{"contentDays":null,"logDays":30}',
        after: '{"contentDays":null,"logDays":60}',
      },
      { field: 'retention', before: null, after: '{"contentDays":null,"logDays":30}' },
    ])
  })

  it('is stored in the commit of its change, or neither is', async () => {
    const { notifier, storage, actions } = await start()
    await notifier.templates.create(template)
    const before = await actions()
    const { write } = storage.records
    const sets: string[][] = []
    Object.assign(storage.records, {
      write: (given: Parameters<typeof write>[0]) => {
        for (const set of given) sets.push(set.map(({ kind }) => kind.name))
        return Promise.reject(new Error('The disk is full.'))
      },
    })
    const attempts = [
      notifier.templates.update('welcome', { body: 'New' }),
      notifier.templates.delete('welcome'),
      notifier.apiKeys.create({ name: 'k', permission: 'Write' }),
      notifier.suppressions.add({ channel: 'email', to: 'ada@example.com' }),
    ]
    expect((await Promise.allSettled(attempts)).map(({ status }) => status)).toEqual(
      Array(4).fill('rejected'),
    )
    Object.assign(storage.records, { write })
    expect(sets.every((set) => set.length > 1 && set.includes('audit_entries'))).toBe(true)
    expect(await actions()).toEqual(before)
    expect(await notifier.templates.get('welcome')).toMatchObject({ version: 1 })
  })
})

describe('the author', () => {
  it('is the actor that code names, also after it has waited', async () => {
    const { notifier } = await start()
    const acme = notifier.organization('org_acme')
    await notifier.actingAs('ada', async () => {
      await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
      await new Promise(setImmediate)
      await notifier.actingAs('bob', () => acme.templates.create(template))
      await acme.templates.delete('welcome')
    })
    await acme.categories.create({ id: 'news', name: 'News' })
    const { items } = await acme.auditLog.list()
    expect(items.map(({ action, actor }) => [action, actor.id])).toEqual([
      ['category.created', 'code'],
      ['template.deleted', 'ada'],
      ['template.created', 'bob'],
      ['organization.created', 'ada'],
    ])
  })

  it.each([[''], ['a'.repeat(201)], ['a\nb'], [undefined], [42]])('is refused as %j', async (actor) => {
    const { notifier } = await start()
    expect(() => notifier.actingAs(actor as string, () => {})).toThrow('"actor" must be one line')
  })
})

describe('the list', () => {
  it('is filtered by actor, action, target and time, in pages', async () => {
    const { notifier, clock } = await start()
    const { list } = notifier.auditLog
    for (const n of [1, 2, 3, 4, 5, 6]) {
      const to = `a${n}@example.com`
      await notifier.actingAs(n % 2 === 0 ? 'even' : 'odd', () =>
        notifier.suppressions.add({ channel: 'email', to }),
      )
      await clock.advance(1_000)
    }
    const { items: all } = await list()
    expect((await list({ actor: 'even' })).items).toEqual(all.filter(({ actor }) => actor.id === 'even'))
    expect((await list({ action: 'suppression.removed' })).items).toEqual([])
    expect((await list({ target: all[2]?.target.id })).items).toEqual([all[2]])
    expect((await list({ from: all[3]?.at, until: all[1]?.at })).items).toEqual([all[2], all[3]])
    const first = await list({ actor: 'odd', limit: 2 })
    const second = await list({ actor: 'odd', limit: 2, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...second.items]).toEqual(all.filter(({ actor }) => actor.id === 'odd'))
    expect(second.nextCursor).toBe(null)
    expect((await list({ offset: 4 })).items).toEqual(all.slice(4))
    await expect(list({ offset: 1, actor: 'odd' })).rejects.toThrow('"offset" must be omitted with a filter')
  })

  it('finds what was changed for a person, by any spelling of an address, or by id', async () => {
    const { notifier } = await start()
    const { suppressions, preferences, auditLog } = notifier
    await suppressions.add({ channel: 'email', to: 'ada@example.com' })
    await preferences.change({ channel: 'email', to: 'ada@example.com' }, { channels: { email: false } })
    await preferences.change({ recipient: 'ada' }, { channels: { email: false } })
    await suppressions.add({ channel: 'email', to: 'bob@example.com' })
    const found = async (query: AuditLogQuery) =>
      (await auditLog.list(query)).items.map(({ action }) => action)
    expect(await found({ channel: 'email', to: 'Ada@Example.com' })).toEqual([
      'preferences.updated',
      'suppression.added',
    ])
    expect(await found({ recipient: 'ada' })).toEqual(['preferences.updated'])
    await expect(found({ to: 'ada@example.com' })).rejects.toThrow('"channel" must be given with "to"')
    await expect(found({ channel: 'pigeon', to: 'x' })).rejects.toMatchObject({ code: 'invalid_channel' })
    await expect(found({ recipient: 'ada', target: 'x' })).rejects.toThrow('"target" must be given without')
  })

  it('looks at a limited number of entries, and goes on where it ended', async () => {
    const { notifier, clock } = await start()
    const at = new Date(clock.now())
    await notifier.actingAs('first', () =>
      notifier.suppressions.add({ channel: 'email', to: 'a@example.com' }),
    )
    await clock.advance(1_000)
    const others = Array.from(
      { length: 2_100 },
      (_, n) => ({ channel: 'email', to: `b${n}@example.com` }) as const,
    )
    await Promise.all(others.map((each) => notifier.suppressions.add(each)))
    const page = await notifier.auditLog.list({ actor: 'first' })
    expect(page).toMatchObject({ items: [], hasMore: true })
    const next = await notifier.auditLog.list({ actor: 'first', cursor: page.nextCursor ?? '' })
    expect(next).toMatchObject({ items: [{ at: at.toISOString() }], hasMore: false })
  })

  it('shows each organization its own, and operators all', async () => {
    const { notifier } = await start()
    for (const id of ['org_a', 'org_b']) await notifier.organizations.create({ id, name: id })
    const { id } = await notifier.operatorKeys.create({ name: 'Console', permission: 'Write' })
    await notifier.allOrganizations.webhooks.create({ url: 'https://example.com/' })
    const shown = async (list: typeof notifier.auditLog.list) =>
      (await list()).items.map(({ organizationId, action }) => `${organizationId} ${action}`)
    const [a, b] = ['org_a organization.created', 'org_b organization.created']
    expect(await shown(notifier.organization('org_a').auditLog.list)).toEqual([a])
    expect(await shown(notifier.allOrganizations.auditLog.list)).toEqual([
      'null webhook.created',
      'null operator_key.created',
      b,
      a,
    ])
    expect((await notifier.allOrganizations.auditLog.list({ target: id })).items).toHaveLength(1)
    await expect(notifier.organization('org_x').auditLog.list()).rejects.toThrow('No organization')
  })

  it('has one entry for a deletion, however often it is begun', async () => {
    const { notifier, storage } = await start()
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const { purge } = storage.deletions
    Object.assign(storage.deletions, { purge: () => Promise.reject(new Error('The process ends.')) })
    for (const force of [false, true])
      await expect(notifier.organizations.delete('org_a', { force })).rejects.toThrow()
    Object.assign(storage.deletions, { purge })
    await notifier.organizations.delete('org_a')
    const query = { action: 'organization.deleted' } as const
    expect((await notifier.allOrganizations.auditLog.list(query)).items).toHaveLength(1)
  })

  it('keeps the entries of a deleted organization for operators, and shows them to no later one', async () => {
    const { notifier, clock } = await start()
    const { create, delete: remove } = notifier.organizations
    await create({ id: 'org_a', name: 'First' })
    await remove('org_a')
    await clock.advance(1)
    await create({ id: 'org_a', name: 'Second' })
    const names = (
      list: readonly { readonly action: string; readonly target: { readonly name: string | null } }[],
    ) => list.map(({ action, target }) => [action, target.name])
    const own = await notifier.organization('org_a').auditLog.list()
    expect(names(own.items)).toEqual([['organization.created', 'Second']])
    const all = await notifier.allOrganizations.auditLog.list({ target: 'org_a' })
    expect(names(all.items)).toEqual([
      ['organization.created', 'Second'],
      ['organization.deleted', 'First'],
      ['organization.created', 'First'],
    ])
  })
})

describe('retention', () => {
  it.each([
    [{}, 365],
    [{ auditDays: 2 }, 2],
  ])('with %j keeps entries for %i days', async (retention, days) => {
    const delivery = { pollMs: HOUR }
    const { notifier, clock, actions } = await start({ retention, delivery })
    await notifier.templates.create(template)
    clock.correct(days * DAY - 2 * HOUR)
    await clock.advance(HOUR)
    expect(await actions()).toEqual(['template.created'])
    await clock.advance(2 * HOUR)
    expect(await actions()).toEqual([])
  })

  it.each([[0], [-1], [Number.NaN], ['1']])('is not %j', async (auditDays) => {
    const retention = { auditDays: auditDays as number }
    expect(() => createNotifier({ channels: { email: recordingProvider() }, retention })).toThrow(
      'retention.auditDays',
    )
  })
})
