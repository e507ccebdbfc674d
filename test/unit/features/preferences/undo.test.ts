import { expect, it } from 'vitest'
import {
  changePreferences,
  type Preferences,
  withoutAll,
  withoutCategory,
} from '../../../../src/features/preferences/model.ts'
import { changesBetween, isUndone, undone } from '../../../../src/features/preferences/undo.ts'

const before: Preferences = {
  channels: { sms: false, '*': true },
  categories: { news: { email: true, '*': false }, offers: { sms: true } },
  quietHours: false,
  chosenAt: { ':sms': 1, 'news:email': 2, 'offers:sms': 3, quietHours: 4 },
}

it.each([
  ['a category', withoutCategory(before, 'news', 'email', 9)],
  ['a category without a cell', withoutCategory(before, 'tips', 'email', 9)],
  ['everything on a channel', withoutAll(before, 'sms', 9)],
  ['everything', withoutAll(before, '*', 9)],
])('restores each cell with the time of its choice: %s', (_name, after) => {
  const changes = changesBetween(before, after)
  expect(isUndone(after, changes)).toBe(false)
  const restored = undone(after, changes)
  expect(restored).toEqual(before)
  expect(isUndone(restored, changes)).toBe(true)
  expect(undone(restored, changes)).toEqual(before)
})

it('keeps what was chosen since, and what another change has done', () => {
  const after = withoutAll(before, 'sms', 9)
  const categories = new Map([['offers', { clear: false, cells: { sms: false, push: true } }]])
  const since = changePreferences(after, { channels: {}, categories }, 12)
  expect(undone(since, changesBetween(before, after))).toEqual({
    ...before,
    categories: { ...before.categories, offers: { sms: false, push: true } },
    chosenAt: { ...before.chosenAt, 'offers:sms': 12, 'offers:push': 12 },
  })
})

it('reads the preferences once, however many cells there are', () => {
  let reads = 0
  const categories = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`news${at}`, { email: true, sms: true }]),
  )
  const many: Preferences = {
    channels: {},
    get categories() {
      reads += 1
      return categories
    },
  }
  const changes = changesBetween(many, { channels: {}, categories: {} })
  expect([changes.length, reads]).toEqual([200, 1])
  undone(many, changes)
  isUndone(many, changes)
  expect(reads).toBe(3)
})
