import { describe, expect, it } from 'vitest'
import { formFields } from '../../../../src/core/rest/form-fields.ts'

const fields = (text: string, most = 9) => formFields(Buffer.from(text), most)

describe('the fields of a form', () => {
  it.each([
    'a=1&b=2&a=3',
    'was=news%3Aemail+offers%3Asms&on=news%3Aemail',
    'a+b=1+%2B+2',
    'a=%E2%82%AC&b=%ZZ&c=%FF',
    'a&&=&=b&',
    '',
    'ä=ö 1',
  ])('are those of any reader: %s', (text) => {
    expect([...(fields(text) ?? [])]).toEqual([...new URLSearchParams(text)])
  })

  it('are refused above the given number, as they were posted', () => {
    expect(fields('a&b&c', 3)?.size).toBe(3)
    expect(fields('a&b&c&d', 3)).toBeNull()
    expect(fields('&&&', 3)).toBeNull()
  })

  it('leave the posted bytes as they were', () => {
    const bytes = Buffer.from('a=1+1')
    formFields(bytes, 1)
    expect(bytes.toString()).toBe('a=1+1')
  })
})
