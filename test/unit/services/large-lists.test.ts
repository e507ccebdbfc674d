import { expect, it } from 'vitest'
import { DEFAULT_BOUNDS } from '../../../src/domain/bounds.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { inMemory } from '../../support/in-memory.ts'
import { notifierWorld } from '../../support/notifier-world.ts'

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

it('a page of large templates ends before its limit, and is followed by the others', async () => {
  const { notifier, asked } = await start()
  const names = Array.from({ length: 3 }, (_, index) => `template-${index}`)
  const texts = { html: '<p>', text: 'x'.repeat(DEFAULT_BOUNDS.textBytes) }
  for (const name of names) await notifier.templates.create({ name, channel: 'email', ...texts })
  const first = await notifier.templates.list({ limit: 100 })
  expect(first).toMatchObject({ limit: 100, offset: 0, hasMore: true })
  expect(first.items).toHaveLength(2)
  const last = await notifier.templates.list({ limit: 100, cursor: first.nextCursor ?? '' })
  expect(last).toMatchObject({ hasMore: false, nextCursor: null })
  expect([...first.items, ...last.items].map(({ name }) => name)).toEqual(names.toReversed())
  expect(asked).toEqual([2, 2])
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
