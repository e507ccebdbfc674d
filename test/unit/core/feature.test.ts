import { describe, expect, it } from 'vitest'
import { createFeatures, type Feature } from '../../../src/core/feature.ts'
import { FEATURES } from '../../../src/features/index.ts'

interface Greeting {
  readonly tenants: { readonly notes: { greet(): string } }
}
interface Parting {
  readonly tenants: { readonly notes: { part(): string } }
}
const greeting: Feature<Greeting, { readonly name: string }> = {
  name: 'greeting',
  create: ({ name }) => ({ tenants: { notes: { greet: () => `Hello ${name}` } } }),
}
const parting: Feature<Parting, { readonly word: string }> = {
  name: 'parting',
  create: ({ word }) => ({ tenants: { notes: { part: () => word } } }),
}

describe('features', () => {
  it('share a group of methods, each made from what it needs', () => {
    const { notes } = createFeatures([greeting, parting], { name: 'Ada', word: 'Bye' }).tenants
    expect([notes.greet(), notes.part()]).toEqual(['Hello Ada', 'Bye'])
  })

  it('do not replace the method of another', () => {
    const create = () => createFeatures([greeting, greeting], { name: 'Ada' })
    expect(create).toThrow('Two features have the method "greet".')
  })

  it('have names of their own', () => {
    expect(new Set(FEATURES.map(({ name }) => name)).size).toBe(FEATURES.length)
  })
})
