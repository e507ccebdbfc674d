import { describe, expect, it } from 'vitest'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { createProcessor } from '../../../../src/core/loop/processor.ts'
import { createTextChecks, type WrittenTemplate } from '../../../../src/core/text/text-checks.ts'
import { KINDS } from '../../../support/kinds.ts'

/** How many texts are compiled. */
function open() {
  let compiled = 0
  let layout = 'lay_1@1'
  const judging = createTextChecks({
    bounds: DEFAULT_BOUNDS,
    records: { get: async () => [] } as never,
    processor: createProcessor({ monotonic: () => 0 }),
    kinds: {
      ...KINDS,
      of(channel) {
        compiled += 1
        return KINDS.of(channel)
      },
    },
    library: {
      find: async () => ({
        pinned: { layout },
        localized: false,
        sources: { layout: { html: '<p>{{{content}}}</p>', text: '{{content}}' }, partials: new Map() },
      }),
    } as never,
  })
  async function count(text: WrittenTemplate, before?: WrittenTemplate): Promise<number> {
    compiled = 0
    await judging.assertWhole('org_a', text, before)
    return compiled
  }
  return {
    count,
    changeLayout() {
      layout = 'lay_1@2'
    },
  }
}

const variant = (body: string) => ({ subject: null, body, format: 'html', text: null }) as const
const locales = (of: string) =>
  Object.fromEntries(['de', 'fr', 'it', 'ja'].map((locale) => [locale, variant(`${of} in ${locale}`)]))
const written: WrittenTemplate = {
  ...variant('One'),
  channel: 'email',
  subject: 'One',
  layout: 'b',
  locales: locales('One'),
}

describe('a template with a layout and four variants', () => {
  it('compiles each text once', async () => {
    expect(await open().count(written)).toBe(5)
  })

  it('compiles the text that changed, and no other', async () => {
    const { count } = open()
    expect(await count(written, written)).toBe(0)
    expect(await count({ ...written, body: 'Two' }, written)).toBe(1)
    expect(await count({ ...written, subject: 'Two' }, written)).toBe(1)
    const changed = { ...written.locales, de: variant('Zwei'), es: variant('Dos') }
    expect(await count({ ...written, locales: changed }, written)).toBe(2)
    expect(await count({ ...written, locales: undefined }, written)).toBe(0)
  })

  it('compiles all for another layout', async () => {
    expect(await open().count({ ...written, layout: 'c' }, written)).toBe(5)
  })

  it('that was checked before is not compiled again when it is restored or published', async () => {
    const { count, changeLayout } = open()
    await count(written)
    const later = { ...written, body: 'Two', locales: locales('Two') }
    expect(await count(later, written)).toBe(5)
    expect(await count(written, later)).toBe(0)
    changeLayout()
    expect(await count(later, written)).toBe(5)
  })
})
