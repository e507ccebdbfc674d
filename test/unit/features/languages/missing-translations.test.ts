import { describe, expect, it } from 'vitest'
import { catalogueVersionKind } from '../../../../src/features/languages/records.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'
import { watchReads } from '../../../support/record-reads.ts'

const LOCALES = [
  'bg',
  'cs',
  'da',
  'de',
  'el',
  'es',
  'et',
  'fi',
  'fr',
  'hu',
  'is',
  'it',
  'lt',
  'lv',
  'nl',
  'pl',
]

/** Messages `k0`, `k1` and so on. */
const messagesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'x']))
const textOf = (count: number) => Array.from({ length: count }, (_, index) => `{{@k${index}}}`).join('')

async function start() {
  const storage = inMemory()
  const catalogues = watchReads(storage, catalogueVersionKind)
  const notifier = await notifierWorld({ storage }).start({ channels: { email: recordingProvider() } })
  return { notifier, catalogues }
}

describe('missing translations', () => {
  it('take a template without a locale for one in that of the organization', async () => {
    const { notifier } = await start()
    await notifier.organizations.update('org_default', { locale: 'de' })
    await notifier.messages.put('de', { hi: 'Hallo' })
    await notifier.messages.put('en', { hi: 'Hello' })
    const text = '{{@hi}}'
    await notifier.templates.create({ name: 'a', channel: 'email', text, locales: { fr: { text: 'x' } } })
    const [found] = (await notifier.templates.missing()).items
    const without = found?.missing.filter(({ variant }) => variant).map(({ locale }) => locale)
    expect(without).toEqual(['en'])
  })

  it('end a page after a bounded number of look-ups, and go on with the next', async () => {
    const { notifier } = await start()
    for (const locale of LOCALES) await notifier.messages.put(locale, messagesOf(900))
    const names = Array.from({ length: 8 }, (_, index) => `template-${index}`)
    for (const name of names) await notifier.templates.create({ name, channel: 'email', body: textOf(1_200) })
    const pages: string[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await notifier.templates.missing(cursor === '' ? {} : { cursor })
      pages.push(page.items.map(({ name }) => name))
      expect(page.hasMore).toBe(page.nextCursor !== null)
      cursor = page.nextCursor
    }
    // Of each template, 16 times 1,001 keys and its text: after three there are more than 50,000.
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 2])
    expect(pages.flat()).toEqual(names.toReversed())
  })

  it('read each catalogue once', async () => {
    const { notifier, catalogues } = await start()
    for (const locale of LOCALES) await notifier.messages.put(locale, { known: 'x' })
    await notifier.partials.create({ name: 'part', text: '{{@lost}}' })
    for (const name of ['a', 'b', 'c'])
      await notifier.templates.create({ name, channel: 'email', text: '{{@known}} {{> part}}' })
    catalogues.length = 0
    const { items } = await notifier.templates.missing()
    expect(items.map(({ missing }) => missing.map(({ keys }) => keys))).toEqual(
      Array(3).fill(Array(LOCALES.length).fill(['lost'])),
    )
    expect(catalogues.flat()).toHaveLength(LOCALES.length)
  })

  it('say where they are cut off', async () => {
    const { notifier } = await start()
    await notifier.messages.put('de', { other: 'x' })
    await notifier.templates.create({ name: 'some', channel: 'email', text: textOf(100) })
    await notifier.templates.create({ name: 'many', channel: 'email', text: textOf(101) })
    const { items } = await notifier.templates.missing()
    expect(items.map(({ name, complete, missing }) => [name, complete, missing[0]?.keys.length])).toEqual([
      ['many', false, 100],
      ['some', true, 100],
    ])
  })

  it('let the event loop turn between catalogues and between templates', async () => {
    const { notifier } = await start()
    for (const locale of LOCALES) await notifier.messages.put(locale, { known: 'x' })
    for (const name of ['a', 'b', 'c', 'd'])
      await notifier.templates.create({ name, channel: 'email', text: '{{@lost}}' })
    let turns = 0
    let ended = false
    const count = (): void => {
      turns += 1
      if (!ended) setImmediate(count)
    }
    setImmediate(count)
    await notifier.templates.missing()
    ended = true
    expect(turns).toBeGreaterThanOrEqual(LOCALES.length + 3)
  })
})
