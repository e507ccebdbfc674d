import { describe, expect, it } from 'vitest'
import { plainCategory } from '../../../../src/core/notification/category.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { categoryKind, categoryRecordId } from '../../../../src/features/categories/records.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const news = { id: 'news', name: 'News' } as const

async function start(categories?: NotifierOptions['categories']) {
  const world = notifierWorld()
  const options = { channels: { email: recordingProvider() }, ...(categories && { categories }) }
  return { world, notifier: await world.start(options), another: () => world.start(options) }
}

describe('categories', () => {
  it('are created, found by their former ids, changed and deleted, each organization its own', async () => {
    const { notifier, world } = await start()
    const { categories } = notifier
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const createdAt = new Date(world.clock.now()).toISOString()
    const created = await categories.create({
      ...news,
      default: { sms: false },
      listId: 'news.example.com',
      formerIds: ['letters'],
    })
    expect(created).toEqual({
      ...news,
      description: null,
      required: false,
      default: { '*': true, sms: false },
      listId: 'news.example.com',
      from: null,
      formerIds: ['letters'],
      quietHours: null,
      source: 'stored',
      version: 1,
      createdAt,
      updatedAt: createdAt,
    })
    expect(await categories.get('letters')).toEqual(created)
    await world.clock.advance(1_000)
    const changed = await categories.update('letters', { name: 'Newsletter', listId: null })
    expect(changed).toEqual({
      ...created,
      name: 'Newsletter',
      listId: null,
      version: 2,
      updatedAt: new Date(world.clock.now()).toISOString(),
    })
    const { items } = await categories.list()
    expect(items.map(({ id, source }) => [id, source])).toEqual([
      ['default', 'code'],
      ['news', 'stored'],
    ])
    const other = notifier.organization('org_a').categories
    await expect(other.get('news')).rejects.toMatchObject({ code: 'not_found' })
    await other.create(news)
    await categories.delete('news')
    await expect(categories.get('letters')).rejects.toMatchObject({ code: 'not_found' })
    expect((await other.get('news')).name).toBe('News')
  })

  it('are changed on the basis of a version, by one of two at once', async () => {
    const { notifier } = await start()
    const { categories } = notifier
    const { version } = await categories.create(news)
    if (version === null) throw new Error('A stored category has a version.')
    const answers = await Promise.allSettled(
      ['Ours', 'Theirs'].map((name) => categories.update('news', { name, version })),
    )
    const [refused] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const [changed] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    expect(refused).toMatchObject({
      code: 'version_conflict',
      status: 409,
      message: 'The category "news" now has version 2. Read it again, and apply the change to that version.',
      details: { field: 'version', version: 2 },
    })
    expect(await categories.get('news')).toEqual({ ...changed, version: 2 })
    expect(await categories.update('news', { name: 'Any' })).toMatchObject({ version: 3 })
    await expect(categories.update('news', { version: 0 })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    expect((await categories.get('default')).version).toBeNull()
  })

  it('take no id or former id twice, in code or stored, not even at the same time', async () => {
    const { notifier } = await start({ security: { name: 'Security', formerIds: ['alerts'] } })
    const { categories } = notifier
    await categories.create({ ...news, formerIds: ['letters'] })
    for (const id of ['default', 'security', 'alerts', 'news', 'letters'])
      await expect(categories.create({ id, name: 'X' })).rejects.toMatchObject({
        code: 'category_already_exists',
        status: 409,
      })
    await expect(categories.create({ id: 'x', name: 'X', formerIds: ['news'] })).rejects.toMatchObject({
      code: 'category_already_exists',
    })
    await expect(categories.update('news', { formerIds: ['alerts'] })).rejects.toMatchObject({
      code: 'category_already_exists',
    })
    const tries = Array.from({ length: 10 }, () => categories.create({ id: 'race', name: 'Race' }))
    const results = await Promise.allSettled(tries)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('in code are shown, and changed in code only', async () => {
    const { notifier } = await start({
      default: { name: 'Service', required: true },
      ads: { name: 'Ads', default: false },
    })
    const { categories } = notifier
    expect(await categories.get('default')).toMatchObject({ name: 'Service', required: true, source: 'code' })
    expect(await categories.get('ads')).toMatchObject({ default: { '*': false }, createdAt: null })
    for (const act of [() => categories.update('ads', { required: true }), () => categories.delete('ads')])
      await expect(act()).rejects.toMatchObject({ code: 'invalid_parameter', details: { field: 'id' } })
  })

  it('name what is wrong with them', async () => {
    const { notifier } = await start()
    const { categories } = notifier
    const inputs: [object, string, string][] = [
      [{ name: 'X' }, 'missing_required_field', 'id'],
      [{ id: 'x' }, 'missing_required_field', 'name'],
      [{ ...news, id: 'News' }, 'invalid_parameter', 'id'],
      [{ ...news, id: 'x'.repeat(65) }, 'invalid_parameter', 'id'],
      [{ ...news, required: 'no' }, 'invalid_parameter', 'required'],
      [{ ...news, default: { Email: true } }, 'invalid_parameter', 'default'],
      [{ ...news, default: 'on' }, 'invalid_parameter', 'default'],
      [{ ...news, listId: '<news.example.com>' }, 'invalid_parameter', 'listId'],
      [{ ...news, listId: 'a\r\nBcc: x' }, 'invalid_parameter', 'listId'],
      [{ ...news, from: 'a@example.com\r\nBcc: x' }, 'invalid_parameter', 'from'],
      [{ ...news, formerIds: ['news'] }, 'invalid_parameter', 'formerIds'],
      [{ ...news, formerIds: ['a', 'a'] }, 'invalid_parameter', 'formerIds'],
      [
        { ...news, formerIds: Array.from({ length: 21 }, (_, index) => `f${index}`) },
        'invalid_parameter',
        'formerIds',
      ],
      [{ ...news, requird: true }, 'invalid_parameter', 'requird'],
    ]
    for (const [input, code, field] of inputs)
      await expect(categories.create(input as never), JSON.stringify(input)).rejects.toMatchObject({
        code,
        details: { field },
      })
    for (const id of [undefined, 1, {}] as const)
      await expect(categories.get(id as never)).rejects.toMatchObject({ code: 'invalid_parameter' })
    await expect(categories.get('__proto__')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are at most a hundred', async () => {
    const { notifier } = await start()
    for (let index = 0; index < 100; index += 1)
      await notifier.categories.create({ id: `c${index}`, name: 'C' })
    await expect(notifier.categories.create(news)).rejects.toMatchObject({ code: 'invalid_parameter' })
    expect((await notifier.categories.list()).items).toHaveLength(101)
  })

  it('are at most a hundred also when they are created at the same time', async () => {
    const { notifier } = await start()
    const creations = Array.from({ length: 130 }, (_, at) =>
      notifier.categories.create({ id: `c${at}`, name: 'C' }),
    )
    const results = await Promise.allSettled(creations)
    const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []))
    expect(created).toHaveLength(100)
    const { items } = await notifier.categories.list()
    expect(items.map(({ id }) => id).sort()).toEqual([...created, 'default'].sort())
  })

  it('are all found, even if there are more than the limit', async () => {
    const { notifier, world } = await start()
    const writes = Array.from({ length: 250 }, (_, at) => ({
      kind: categoryKind,
      do: 'insert' as const,
      id: categoryRecordId('org_default', `c${at}`),
      organizationId: 'org_default',
      value: { ...plainCategory(`c${at}`), formerIds: [`former-${at}`], updatedAt: null },
    }))
    await world.storage.records.write([writes])
    expect((await notifier.categories.list()).items).toHaveLength(251)
    for (const id of ['c0', 'former-0', 'c249']) {
      await notifier.send({ channel: 'email', to: 'a@example.com', body: 'Hi', category: id })
      expect((await notifier.categories.get(id)).id).toMatch(/^c(0|249)$/)
    }
  })

  it('of a wrong option do not start', () => {
    const wrong: [object, RegExp][] = [
      [{ Ads: { name: 'A' } }, /categories/],
      [{ ads: {} }, /categories\.ads\.name/],
      [{ ads: { name: 'A', requird: true } }, /requird/],
      [{ ads: { name: 'A', formerIds: ['b'] }, b: { name: 'B' } }, /"b" is the id or a former id of two/],
      [{ ads: { name: 'A', formerIds: ['default'] } }, /"default"/],
      [[], /categories/],
    ]
    for (const [categories, message] of wrong)
      expect(() =>
        createNotifier({
          channels: { email: recordingProvider() },
          clock: fakeClock(),
          categories: categories as never,
        }),
      ).toThrow(message)
  })
})
