import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { presentFields } from '../../../../src/core/input/present-fields.ts'
import { SEND_INPUT } from '../../../support/kinds.ts'

const values = fc.oneof(
  fc.constantFrom('a@example.com', 'email', '', ' ', 'push', '2030-01-01T00:00:00Z', 'user:1'),
  fc.constantFrom(undefined, null, 5, true, {}, [], ['push', 'email'], ['email', 'email']),
)

it('judges a message as the whole schema does', () => {
  const names = Object.keys((SEND_INPUT as unknown as z.ZodObject).shape)
  const messages = fc.dictionary(fc.constantFrom(...names, 'unknown', 'toString'), values, { maxKeys: 8 })
  fc.assert(
    fc.property(messages, (message) => {
      expect(presentFields(SEND_INPUT, message).safeParse(message)).toEqual(SEND_INPUT.safeParse(message))
    }),
    { numRuns: 500 },
  )
})

it('reads fields that an object inherits', () => {
  class Message {
    get to(): string {
      return 'ada@example.com'
    }
  }
  expect(presentFields(SEND_INPUT, new Message())).toBe(SEND_INPUT)
})

it('keeps a bounded number of schemas', () => {
  const names = Array.from({ length: 200 }, (_, at) => `f${at}`)
  const schema = z.object(Object.fromEntries(names.map((name) => [name, z.string().optional()])))
  const parts = names.map((name) => presentFields(schema, { [name]: 'x' }))
  expect(new Set(parts).size).toBe(101)
  expect(presentFields(schema, { f0: 'y' })).toBe(parts[0])
})
