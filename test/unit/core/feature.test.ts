import { describe, expect, it } from 'vitest'
import { createFeatures, type Feature, type FeatureCore } from '../../../src/core/feature.ts'
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

  it('have names of their own', () => {
    const create = () => createFeatures([greeting, greeting], { name: 'Ada' })
    expect(create).toThrow('Two features are named "greeting".')
    expect(new Set(FEATURES.map(({ name }) => name)).size).toBe(FEATURES.length)
  })
})
