import { describe, expect, it } from 'vitest'
import { isBroken, type Placeholder, variablesOf } from '../../../dashboard/pages/templates/variables.ts'

const needs = (...names: string[]): Placeholder[] => names.map((name) => ({ name, type: 'text' }))
const sent = (...given: Parameters<typeof variablesOf>) => JSON.stringify(variablesOf(...given))

describe('example values of placeholders', () => {
  it('name themselves until they are typed, and are left out when they are emptied', () => {
    expect(sent(needs('name', 'user.city'), {})).toBe('{"name":"name","user":{"city":"user.city"}}')
    expect(sent(needs('name', 'city'), { name: 'Ada', city: '' })).toBe('{"name":"Ada"}')
  })

  it('have the type that a message of the template needs', () => {
    const typed = [
      { name: 'count', type: 'number' },
      { name: 'due', type: 'date' },
    ] as const
    const { count, due } = variablesOf(typed, {}) as Record<string, string>
    expect([Number(count), Number.isNaN(Date.parse(due ?? ''))]).toEqual([2, false])
  })

  it('take the JSON of a section', () => {
    const section = { name: 'items', type: 'section' } as const
    expect(sent([section], {})).toBe('{"items":true}')
    expect(sent([section], { items: '[{"a":1}]' })).toBe('{"items":[{"a":1}]}')
    expect(sent([section], { items: '[{' })).toBe('{}')
    expect(isBroken(section, { items: '[{' })).toBe(true)
    expect(isBroken(section, { items: '' })).toBe(false)
  })

  it('reach no prototype, and overwrite no text', () => {
    expect(sent(needs('__proto__.polluted', 'user', 'user.name'), {})).toBe(
      '{"__proto__":{"polluted":"__proto__.polluted"},"user":"user"}',
    )
    expect({}).not.toHaveProperty('polluted')
  })
})
