import { describe, expect, it, vi } from 'vitest'
import type { Complete } from '../../../src/core/accept/complete.ts'
import type { ParsedSend } from '../../../src/core/accept/input.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { createFeatures, type Feature, type FeatureCore } from '../../../src/core/feature.ts'
import type { RecordReads } from '../../../src/core/records/record-stores.ts'
import { FEATURES } from '../../../src/features/index.ts'

interface Greeting {
  readonly tenants: { readonly notes: { greet(): string } }
}
interface Parting {
  readonly tenants: { readonly notes: { part(): string } }
}
const greeting: Feature<Greeting, { readonly name: string }> = {
  name: 'greeting',
  create: ({ name }) => ({ api: { tenants: { notes: { greet: () => `Hello ${name}` } } } }),
}
const parting: Feature<Parting, { readonly word: string }> = {
  name: 'parting',
  create: ({ word }) => ({ api: { tenants: { notes: { part: () => word } } } }),
}

const counting: Feature<object, FeatureCore, { count: number }> = {
  name: 'counting',
  create: () => ({ api: {}, shared: { count: 3 } }),
}
const using: Feature<{ readonly count: number }> = {
  name: 'using',
  create: ({ use }) => ({ api: use(counting) }),
}

describe('features', () => {
  it('use what those before them share', () => {
    const core = {} as Omit<FeatureCore, 'use'>
    expect(createFeatures([counting, using], core).api.count).toBe(3)
    expect(() => createFeatures([using, counting], core)).toThrow(
      'The feature "counting" must come earlier in the list of features.',
    )
  })

  it('share a group of methods, each made from what it needs', () => {
    const { notes } = createFeatures([greeting, parting], { name: 'Ada', word: 'Bye' }).api.tenants
    expect([notes.greet(), notes.part()]).toEqual(['Hello Ada', 'Bye'])
  })

  it('do not replace the method of another', () => {
    const another = { ...greeting, name: 'another' }
    const create = () => createFeatures([greeting, another], { name: 'Ada' })
    expect(create).toThrow('Two features have the method "greet".')
  })

  it('do not bring the source of another', () => {
    const people = { one: async () => null, many: async () => new Map(), leftOut() {} }
    const address: Feature<object> = { name: 'addresses', create: () => ({ api: {}, people }) }
    const core = {} as Omit<FeatureCore, 'use'>
    expect(createFeatures([counting, address], core).people).toBe(people)
    const create = () => createFeatures([address, { ...address, name: 'others' }], core)
    expect(create).toThrow('Two features bring "people".')
  })

  it('complete messages in turn, each with one call for a batch', async () => {
    const refused = new NotifierError('unknown_attachment')
    const first = vi.fn<Complete>(async (drafts) =>
      drafts.map((draft) => (draft.body === 'bad' ? refused : { ...draft, body: `${draft.body}1` })),
    )
    const none = vi.fn<Complete>(() => undefined)
    const second = vi.fn<Complete>(async (drafts) =>
      drafts.map((draft) => ({ ...draft, body: `${draft.body}2` })),
    )
    const completing = (name: string, complete: Complete): Feature<object> => ({
      name,
      create: () => ({ api: {}, complete }),
    })
    const features = [completing('first', first), completing('none', none), completing('second', second)]
    const { complete } = createFeatures(features, {} as Omit<FeatureCore, 'use'>)
    const drafts = ['a', 'bad', 'b'].map((body) => ({ body }) as ParsedSend)
    const reads = {} as RecordReads
    expect(await complete?.(drafts, 'org_a', reads)).toEqual([{ body: 'a12' }, refused, { body: 'b12' }])
    expect(none.mock.calls).toEqual([[[{ body: 'a1' }, { body: 'b1' }], 'org_a', reads]])
    expect(second).toHaveBeenCalledTimes(1)
  })

  it('have nothing to complete if none of them has', () => {
    const idle = (name: string): Feature<object> => ({
      name,
      create: () => ({ api: {}, complete: () => undefined }),
    })
    const core = {} as Omit<FeatureCore, 'use'>
    expect(
      createFeatures([idle('one'), idle('other')], core).complete?.([], 'org_a', {} as RecordReads),
    ).toBe(undefined)
    expect(createFeatures([counting], core).complete).toBeUndefined()
  })

  it('have names of their own', () => {
    const create = () => createFeatures([greeting, greeting], { name: 'Ada' })
    expect(create).toThrow('Two features are named "greeting".')
    expect(new Set(FEATURES.map(({ name }) => name)).size).toBe(FEATURES.length)
  })
})
