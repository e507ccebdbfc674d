import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../../../src/core/records/cursor.ts'

test('a cursor reads back as the key that it was made of', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 3 }), (key) => {
      const cursor = encodeCursor(key)
      expect(cursor).toMatch(/^[\w.-]+$/)
      expect(decodeCursor(cursor, key.length)).toEqual(key)
    }),
  )
})

test('anything else is refused, naming the field', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 3 }), (text, parts) => {
      try {
        const key = decodeCursor(text, parts)
        expect(key).toHaveLength(parts)
        expect(key.every(Number.isSafeInteger)).toBe(true)
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_parameter', details: { field: 'cursor' } })
      }
    }),
  )
})

test('a cursor of another list is refused', () => {
  expect(() => decodeCursor(encodeCursor([1, 2]), 3)).toThrow()
  expect(() => decodeCursor('zzzzzzzzzzz', 1)).toThrow()
  expect(() => decodeCursor('-5', 1)).toThrow()
})
