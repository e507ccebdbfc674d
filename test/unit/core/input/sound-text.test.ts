import fc from 'fast-check'
import { expect, it } from 'vitest'
import { soundText } from '../../../../src/core/input/sound-text.ts'

it.each([
  ['whole 😀', 8, 'whole 😀'],
  ['whole 😀', 7, 'whole \ufffd'],
  ['\udc00a\ud800', 9, '\ufffda\ufffd'],
  ['a\0b', 9, 'a\ufffdb'],
])('%j, %i at most, is %j', (text, most, sound) => {
  expect(soundText(text, most)).toBe(sound)
})

it('what is no text becomes one, and a text stays what it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(0xffff)), (text, units) => {
      expect(soundText(text, text.length)).toBe(text.replaceAll('\0', '\ufffd'))
      const sound = soundText(String.fromCharCode(...units), 1_000)
      expect(Buffer.from(sound).toString()).toBe(sound)
      expect(sound).not.toContain('\0')
    }),
  )
})
