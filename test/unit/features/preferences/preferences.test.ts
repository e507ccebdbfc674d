import { describe, expect, it } from 'vitest'
import type { PreferencesInput, PreferencesOf } from '../../../../src/features/preferences/input.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const ada = { recipient: 'user:42' } as const
const address = { channel: 'email', to: 'Ada@example.com' } as const

async function start() {
  const world = notifierWorld()
  const options = {
    channels: { email: recordingProvider(), push: recordingProvider() },
    categories: {
      news: { name: 'News', formerIds: ['letters'] },
      ads: { name: 'Ads', default: false },
    },
  }
  return { world, notifier: await world.start(options), another: () => world.start(options) }
}

describe('preferences', () => {
  it('are undecided at first, changed cell by cell, cleared and replaced', async () => {
    const { notifier, world } = await start()
    const { get, change, replace } = notifier.preferences
    expect(await get(ada)).toEqual({
      ...ada,
      channels: {},
      categories: {},
      quietHours: null,
      updatedAt: null,
    })
    const updatedAt = new Date(world.clock.now()).toISOString()
    expect(await change(ada, { channels: { email: false } })).toEqual({
      ...ada,
      channels: { email: false },
      categories: {},
      quietHours: null,
      updatedAt,
    })
    await change(ada, { categories: { news: { email: false } } })
    await change(ada, { categories: { news: { push: true, '*': false }, ads: true } })
    expect(await get(ada)).toMatchObject({
      channels: { email: false },
      categories: { news: { email: false, push: true, '*': false }, ads: true },
    })
    await change(ada, { channels: { email: null }, categories: { news: { email: null, push: null } } })
    expect(await get(ada)).toMatchObject({ channels: {}, categories: { news: false, ads: true } })
    await change(ada, { categories: { news: null } })
    expect((await get(ada)).categories).toEqual({ ads: true })
    expect(await replace(ada, { channels: { '*': false } })).toMatchObject({
      channels: { '*': false },
      categories: {},
    })
  })

  it('replace all cells of a category with a single value, so that an older "on" for a channel does not survive', async () => {
    const { notifier } = await start()
    await notifier.preferences.change(ada, { categories: { news: { email: true } } })
    const after = await notifier.preferences.change(ada, { categories: { news: false } })
    expect(after.categories).toEqual({ news: false })
  })

  it('are of a person, an address in any spelling, or the organization, each organization its own', async () => {
    const { notifier } = await start()
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const off = { channels: { email: false } }
    await notifier.preferences.change(address, off)
    const spelt = { ...address, to: 'ada@EXAMPLE.com' }
    expect(await notifier.preferences.get(spelt)).toMatchObject({ ...spelt, ...off })
    expect((await notifier.preferences.get({ recipient: 'Ada@example.com' })).channels).toEqual({})
    const organization = { organization: true } as const
    expect(await notifier.preferences.change(organization, off)).toMatchObject({ ...organization, ...off })
    const other = notifier.organization('org_a').preferences
    for (const who of [address, ada, organization]) expect((await other.get(who)).updatedAt).toBeNull()
    const long = { recipient: 'é'.repeat(255) }
    expect(await notifier.preferences.change(long, off)).toMatchObject({ ...long, ...off })
  })

  it('stay with a category that has a new id', async () => {
    const { notifier } = await start()
    expect(await notifier.preferences.change(ada, { categories: { letters: false } })).toMatchObject({
      categories: { news: false },
    })
    const stored = notifier.categories
    await stored.create({ id: 'old', name: 'Old' })
    await notifier.preferences.change(ada, { categories: { old: { push: false } } })
    await stored.delete('old')
    await stored.create({ id: 'new', name: 'New', formerIds: ['old'] })
    expect((await notifier.preferences.get(ada)).categories).toEqual({ news: false, new: { push: false } })
    await notifier.preferences.change(ada, { categories: { old: { email: false } } })
    expect((await notifier.preferences.get(ada)).categories).toMatchObject({
      new: { push: false, email: false },
    })
  })

  it('lose no cell when several processes change others at the same time', async () => {
    const { notifier, another } = await start()
    const notifiers = [notifier, await another(), await another()]
    const changes: PreferencesInput[] = ['email', 'sms', 'push', 'slack', 'webhook'].flatMap((channel) => [
      { channels: { [channel]: false } },
      { categories: { news: { [channel]: true } } },
      { categories: { ads: { [channel]: false } } },
    ])
    await Promise.all(
      changes.map((change, index) => notifiers[index % notifiers.length]?.preferences.change(ada, change)),
    )
    const { channels, categories } = await notifier.preferences.get(ada)
    expect(Object.keys(channels)).toHaveLength(5)
    expect(Object.values(categories).map((cells) => Object.keys(cells).length)).toEqual([5, 5])
  })

  it('name what is wrong with them', async () => {
    const { notifier } = await start()
    const inputs: [object, object, string, string][] = [
      [{}, {}, 'invalid_parameter', 'input'],
      [{ ...ada, ...address }, {}, 'invalid_parameter', 'input'],
      [{ channel: 'email' }, {}, 'missing_required_field', 'to'],
      [{ to: 'a@example.com' }, {}, 'missing_required_field', 'channel'],
      [{ channel: 'email', to: 'nobody' }, {}, 'invalid_email', 'to'],
      [{ channel: 'pigeon', to: 'x' }, {}, 'invalid_channel', 'channel'],
      [{ recipient: '' }, {}, 'invalid_parameter', 'recipient'],
      [{ recipient: 'x'.repeat(256) }, {}, 'invalid_parameter', 'recipient'],
      [{ organization: false }, {}, 'invalid_parameter', 'organization'],
      [ada, { channels: { pigeon: true } }, 'invalid_channel', 'channels.pigeon'],
      [ada, { channels: { email: 'no' } }, 'invalid_parameter', 'channels.email'],
      [ada, { categories: { nws: false } }, 'unknown_category', 'categories.nws'],
      [ada, { categories: { news: { pigeon: true } } }, 'invalid_channel', 'categories.news.pigeon'],
      [ada, { categories: { News: true } }, 'invalid_parameter', 'categories.News'],
      [address, { channels: { push: false } }, 'invalid_parameter', 'channels.push'],
      [address, { channels: { '*': false } }, 'invalid_parameter', 'channels.*'],
      [address, { categories: { news: { push: false } } }, 'invalid_parameter', 'categories.news.push'],
    ]
    for (const [who, input, code, field] of inputs)
      await expect(
        notifier.preferences.change(who as PreferencesOf, input as PreferencesInput),
        JSON.stringify([who, input]),
      ).rejects.toMatchObject({ code, details: { field } })
    await expect(notifier.preferences.change(ada, { categories: { nws: false } })).rejects.toMatchObject({
      message: expect.stringContaining('Did you mean "news"?'),
      status: 422,
    })
    expect((await notifier.preferences.get(ada)).updatedAt).toBeNull()
  })
})
