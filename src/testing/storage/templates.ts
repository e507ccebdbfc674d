import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import type { Template } from '../../domain/template/template.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { NewTemplate } from '../../ports/storage/templates.ts'
import { countOf, organization, page, readAll, TEN, unique } from './fixtures.ts'
import type { Check } from './harness.ts'

function template(change: Partial<NewTemplate> = {}): NewTemplate {
  return {
    id: `tpl_${unique()}`,
    organizationId: DEFAULT_ORGANIZATION,
    name: `welcome-${unique()}`,
    channel: 'email',
    subject: 'Hello, {{name}}',
    body: 'Hello, {{name}}!',
    format: null,
    text: null,
    description: null,
    ...change,
  }
}

async function created(storage: Storage, change: Partial<NewTemplate> = {}): Promise<Template> {
  const stored = await storage.templates.create(template(change))
  assert.ok(stored !== null)
  return stored
}

export function templateChecks(check: Check): void {
  check('a template is stored as version 1', async ({ storage }) => {
    const given = template({
      format: 'html',
      text: 'Hi',
      description: 'Greets',
      channel: 'slack',
      subject: null,
    })
    const stored = await storage.templates.create(given)
    const { createdAt } = stored ?? {}
    assert.deepEqual(stored, { ...given, version: 1, createdAt, updatedAt: createdAt })
    assert.equal(typeof createdAt, 'number')
    assert.deepEqual(await storage.templates.get(given.id), stored)
    assert.equal(await storage.templates.get('tpl_unknown'), null)
  })

  check('a name is taken once in an organization, whatever the channel', async ({ storage }) => {
    const other = await organization(storage)
    await created(storage, { name: 'welcome' })
    assert.equal(await storage.templates.create(template({ name: 'welcome', channel: 'sms' })), null)
    await created(storage, { name: 'welcome', organizationId: other })
  })

  check('of ten creates of one name in a race one succeeds', async ({ storage }) => {
    const answers = await Promise.all(TEN.map(() => storage.templates.create(template({ name: 'welcome' }))))
    assert.equal(
      countOf(answers, (answer) => answer !== null),
      1,
    )
    assert.equal((await storage.templates.list(DEFAULT_ORGANIZATION, page())).items.length, 1)
  })

  check('a template of an unknown organization is refused', async ({ storage }) => {
    await assert.rejects(storage.templates.create(template({ organizationId: 'org_unknown' })), {
      code: 'not_found',
    })
  })

  check('templates are found by name or id within their organization, in order', async ({ storage }) => {
    const other = await organization(storage)
    const [a, b] = [await created(storage, { name: 'a' }), await created(storage, { name: 'b' })]
    const theirs = await created(storage, { name: 'c', organizationId: other })
    assert.deepEqual(
      await storage.templates.find(DEFAULT_ORGANIZATION, ['b', a.id, 'x', theirs.id, 'c', 'b']),
      [b, a, null, null, null, b],
    )
    assert.deepEqual(await storage.templates.find(other, ['c', theirs.id, 'a']), [theirs, theirs, null])
    assert.deepEqual(await storage.templates.find(other, []), [])
  })

  check('an update of the text adds a version; the earlier ones stay', async ({ storage }) => {
    const first = await created(storage)
    const second = await storage.templates.update(first.id, { body: 'Hi!', subject: null })
    assert.deepEqual(second, { ...first, body: 'Hi!', subject: null, version: 2 })
    const third = await storage.templates.update(first.id, { format: 'text' })
    assert.ok(typeof third === 'object')
    assert.equal(third.version, 3)
    assert.deepEqual(await storage.templates.get(first.id), third)
    assert.deepEqual(await storage.templates.find(DEFAULT_ORGANIZATION, [first.name]), [third])
    const versions = await storage.templates.versions(
      [3, 1, 2, 4].map((version) => ({ id: first.id, version })),
    )
    assert.deepEqual(
      versions.map((found) => found && [found.version, found.body, found.subject, found.format]),
      [[3, 'Hi!', null, 'text'], [1, first.body, first.subject, null], [2, 'Hi!', null, null], null],
    )
  })

  check('the history of a template lists its versions, newest first, in pages', async (harness) => {
    const { storage } = harness
    const first = await created(storage, { name: 'old' })
    for (const body of ['b', 'c', 'd']) {
      await harness.advance(1_000)
      await storage.templates.update(first.id, { body })
    }
    const newest = await storage.templates.update(first.id, { name: 'new', description: 'Greets' })
    const read = await readAll((request) => storage.templates.history(first.id, request), 3)
    assert.deepEqual(
      read.map(({ version, body, name, createdAt }) => [version, body, name, createdAt]),
      [
        [4, 'd', 'new', first.createdAt],
        [3, 'c', 'new', first.createdAt],
        [2, 'b', 'new', first.createdAt],
        [1, first.body, 'new', first.createdAt],
      ],
    )
    assert.deepEqual(
      read.map(({ updatedAt }) => updatedAt - first.createdAt),
      [3_000, 2_000, 1_000, 0],
    )
    const [third] = await storage.templates.versions([{ id: first.id, version: 3 }])
    assert.deepEqual(third, read[1])
    assert.ok(typeof newest === 'object')
    assert.deepEqual(read[0], newest)
    await storage.templates.delete(first.id)
    for (const id of [first.id, 'tpl_unknown'])
      assert.deepEqual(await storage.templates.history(id, page()), { items: [], nextCursor: null })
  })

  check('a change of a version that is not the newest is refused', async ({ storage }) => {
    const first = await created(storage)
    const second = await storage.templates.update(first.id, { body: 'second' }, 1)
    assert.deepEqual(second, { ...first, body: 'second', version: 2 })
    for (const expected of [1, 3])
      assert.equal(await storage.templates.update(first.id, { body: 'x', name: 'x' }, expected), 'outdated')
    assert.deepEqual(await storage.templates.get(first.id), second)
    assert.equal(await storage.templates.update('tpl_unknown', { body: 'x' }, 1), 'unknown')
  })

  check('of ten changes of one version in a race one succeeds', async ({ storage }) => {
    const { id } = await created(storage)
    const answers = await Promise.all(
      TEN.map((index) => storage.templates.update(id, { body: `text ${index}` }, 1)),
    )
    assert.equal(
      countOf(answers, (answer) => answer !== 'outdated'),
      1,
    )
    assert.equal((await storage.templates.get(id))?.version, 2)
  })

  check('a text alternative is part of a version', async ({ storage }) => {
    const first = await created(storage, { body: '<p>Hi</p>', format: 'html' })
    const second = await storage.templates.update(first.id, { text: 'Hi' })
    assert.deepEqual(second, { ...first, text: 'Hi', version: 2 })
    assert.deepEqual(await storage.templates.update(first.id, { text: 'Hi', subject: first.subject }), second)
    const third = await storage.templates.update(first.id, { body: '<p>Hello</p>' })
    assert.deepEqual(third, { ...second, body: '<p>Hello</p>', version: 3 })
    assert.deepEqual(await storage.templates.update(first.id, { text: null }), {
      ...third,
      text: null,
      version: 4,
    })
    const versions = await storage.templates.versions(
      [1, 2, 3, 4].map((version) => ({ id: first.id, version })),
    )
    assert.deepEqual(
      versions.map((found) => found?.text),
      [null, 'Hi', 'Hi', null],
    )
  })

  check('a new name or description keeps the version', async ({ storage }) => {
    const first = await created(storage, { name: 'old' })
    const renamed = await storage.templates.update(first.id, { name: 'new', description: 'Greets' })
    assert.deepEqual(renamed, { ...first, name: 'new', description: 'Greets' })
    assert.deepEqual(await storage.templates.find(DEFAULT_ORGANIZATION, ['old', 'new']), [null, renamed])
    await created(storage, { name: 'old' })
    assert.deepEqual(await storage.templates.update(first.id, {}), renamed)
    assert.deepEqual(await storage.templates.update(first.id, { body: first.body, name: 'new' }), renamed)
  })

  check('an update cannot take a name, nor find what is not there', async ({ storage }) => {
    const [a, b] = [await created(storage, { name: 'a' }), await created(storage, { name: 'b' })]
    assert.equal(await storage.templates.update(b.id, { name: 'a', body: 'changed' }), 'taken')
    assert.deepEqual(await storage.templates.get(b.id), b)
    assert.equal(await storage.templates.update('tpl_unknown', { name: 'c' }), 'unknown')
    await storage.templates.delete(a.id)
    assert.equal(await storage.templates.update(a.id, { body: 'x' }), 'unknown')
    assert.notEqual(await storage.templates.update(b.id, { name: 'a' }), 'taken')
  })

  check('of ten renames to one name in a race one succeeds', async ({ storage }) => {
    const ids = await Promise.all(TEN.map(async () => (await created(storage)).id))
    const answers = await Promise.all(ids.map((id) => storage.templates.update(id, { name: 'wanted' })))
    assert.equal(
      countOf(answers, (answer) => answer !== 'taken'),
      1,
    )
  })

  check('ten updates in a race make ten versions', async ({ storage }) => {
    const { id } = await created(storage)
    await Promise.all(TEN.map((index) => storage.templates.update(id, { body: `text ${index}` })))
    assert.equal((await storage.templates.get(id))?.version, 11)
    const versions = await storage.templates.versions(TEN.map((index) => ({ id, version: index + 2 })))
    assert.equal(new Set(versions.map((found) => found?.body)).size, 10)
  })

  check('a deleted template is gone, its name is free, its versions stay', async ({ storage }) => {
    const first = await created(storage, { name: 'welcome' })
    assert.equal(await storage.templates.delete(first.id), true)
    assert.equal(await storage.templates.delete(first.id), false)
    assert.equal(await storage.templates.delete('tpl_unknown'), false)
    assert.equal(await storage.templates.get(first.id), null)
    assert.deepEqual(await storage.templates.find(DEFAULT_ORGANIZATION, ['welcome', first.id]), [null, null])
    assert.deepEqual((await storage.templates.list(DEFAULT_ORGANIZATION, page())).items, [])
    const [version] = await storage.templates.versions([{ id: first.id, version: 1 }])
    assert.equal(version?.body, first.body)
    const second = await created(storage, { name: 'welcome' })
    assert.deepEqual(await storage.templates.find(DEFAULT_ORGANIZATION, ['welcome']), [second])
  })

  check('templates are listed newest first, in pages, each organization its own', async ({ storage }) => {
    const other = await organization(storage)
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.unshift((await created(storage)).id)
    await created(storage, { organizationId: other })
    const read = await readAll(
      (request) => storage.templates.list(DEFAULT_ORGANIZATION, request),
      2,
      async () => void (await created(storage)),
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      ids,
    )
    assert.equal((await storage.templates.list(other, page())).items.length, 1)
    assert.equal((await storage.templates.list(DEFAULT_ORGANIZATION, page({ offset: 3 }))).items.length, 4)
  })
}
