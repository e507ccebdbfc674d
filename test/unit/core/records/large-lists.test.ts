import { expect, it } from 'vitest'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

/** A notifier, and how many rows of each list its storage was asked for at once. */
async function start() {
  const storage = inMemory()
  const asked: number[] = []
  const { notifications, records } = storage
  const ofNotifications = notifications.list
  notifications.list = (of, page) => {
    asked.push(page.limit)
    return ofNotifications(of, page)
  }
  const ofRecords = records.list
  records.list = (kind, of, page) => {
    asked.push(page.limit)
    return ofRecords(kind, of, page)
  }
  const notifier = await notifierWorld({ storage }).start({ channels: { email: recordingProvider() } })
  return { notifier, asked }
}

const KiB = 1024

/** The names on each page. */
async function pagesOf(templates: Awaited<ReturnType<typeof start>>['notifier']['templates']) {
  const pages: string[][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await templates.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })
    expect(page.hasMore).toBe(page.nextCursor !== null)
    pages.push(page.items.map(({ name }) => name))
    cursor = page.nextCursor
  }
  return pages
}

it('a page of large templates ends before its limit, and is followed by the others', async () => {
  const { notifier, asked } = await start()
  const create = (name: string, bytes: number) =>
    notifier.templates.create({
      name,
      channel: 'email',
      html: 'é'.repeat(bytes / 4),
      text: 'x'.repeat(bytes / 2),
    })
  for (let index = 0; index < 12; index += 1) await create(`small-${index}`, KiB)
  for (const name of ['a', 'b', 'c']) await create(name, 100 * KiB)
  await create('large', 300 * KiB)
  await create('d', 100 * KiB)
  asked.length = 0
  const small = Array.from({ length: 12 }, (_, index) => `small-${11 - index}`)
  expect(await pagesOf(notifier.templates)).toEqual([['d'], ['large'], ['c', 'b'], ['a', ...small]])
  expect(Math.max(...asked)).toBe(10)
})

it.each(['layouts', 'partials'] as const)('so does a page of large %s, and of versions', async (kind) => {
  const { notifier } = await start()
  const text = (character: string) => `${character.repeat(100 * KiB)}{{content}}`
  for (const name of ['a', 'b', 'c']) await notifier[kind].create({ name, text: text(name) })
  expect((await notifier[kind].list()).items.map(({ name }) => name)).toEqual(['c', 'b'])
  for (const each of ['x', 'y']) await notifier[kind].update('a', { text: text(each) })
  const { items, hasMore } = await notifier[kind].versions('a')
  expect(items.map(({ version }) => version)).toEqual([3, 2])
  expect(hasMore).toBe(true)
})

it('a page of small templates is full', async () => {
  const { notifier } = await start()
  const names = Array.from({ length: 30 }, (_, index) => `template-${index}`)
  for (const name of names) await notifier.templates.create({ name, channel: 'email', body: 'Hello' })
  const page = await notifier.templates.list({ limit: 20, offset: 5 })
  expect(page.items.map(({ name }) => name)).toEqual(names.toReversed().slice(5, 25))
  expect(page).toMatchObject({ limit: 20, offset: 5, hasMore: true })
  const rest = await notifier.templates.list({ limit: 20, cursor: page.nextCursor ?? '' })
  expect(rest.items.map(({ name }) => name)).toEqual(names.toReversed().slice(25))
})

it('notifications, whose contents may be large, are read a few at a time', async () => {
  const { notifier, asked } = await start()
  const to = 'ada@example.com'
  await notifier.sendBatch(
    Array.from({ length: 70 }, (_, index) => ({ channel: 'email', to, subject: `${index}`, body: 'Hello' })),
  )
  asked.length = 0
  const page = await notifier.notifications.list({ limit: 60, offset: 3 })
  const newestFirst = Array.from({ length: 70 }, (_, index) => `${69 - index}`)
  expect(page.items.map(({ subject }) => subject)).toEqual(newestFirst.slice(3, 63))
  expect(page).toMatchObject({ limit: 60, offset: 3, hasMore: true })
  expect(asked).toEqual([25, 25, 10])
  expect(await notifier.deadLetters.list({ limit: 100 })).toMatchObject({ items: [], hasMore: false })
})
