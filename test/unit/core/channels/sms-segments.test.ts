import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { smsText } from '../../../../src/core/channels/sms-segments.ts'

/** 3GPP TS 23.038 6.2.1 by code point, row by row of its table: a second source beside the one under test. */
const BASIC_CODES = [
  0x40, 0xa3, 0x24, 0xa5, 0xe8, 0xe9, 0xf9, 0xec, 0xf2, 0xc7, 0x0a, 0xd8, 0xf8, 0x0d, 0xc5, 0xe5, 0x394, 0x5f,
  0x3a6, 0x393, 0x39b, 0x3a9, 0x3a0, 0x3a8, 0x3a3, 0x398, 0x39e, 0xc6, 0xe6, 0xdf, 0xc9, 0x20, 0x21, 0x22,
  0x23, 0xa4, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0x34,
  0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0xa1, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46,
  0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
  0x59, 0x5a, 0xc4, 0xd6, 0xd1, 0xdc, 0xa7, 0xbf, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a,
  0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0xe4, 0xf6,
  0xf1, 0xfc, 0xe0,
]
const EXTENSION_CODES = [0x0c, 0x5e, 0x7b, 0x7d, 0x5c, 0x5b, 0x7e, 0x5d, 0x7c, 0x20ac]
const BASIC = BASIC_CODES.map((code) => String.fromCodePoint(code))
const EXTENSION = EXTENSION_CODES.map((code) => String.fromCodePoint(code))
const ESCAPE = -1

/** Cuts what would be transmitted, and moves a cut that falls into a character one unit back. */
function partsOf(units: readonly number[], alone: number, part: number, joins: (unit: number) => boolean) {
  if (units.length <= alone) return 1
  let parts = 0
  for (let from = 0; from < units.length; parts += 1) {
    const to = from + part
    from = to < units.length && joins(units[to - 1] ?? 0) ? to - 1 : to
  }
  return parts
}

const septets = (text: string) =>
  [...text].flatMap((character) => (EXTENSION.includes(character) ? [ESCAPE, 0] : [BASIC.indexOf(character)]))
const units = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))

/** Mostly just around the sizes at which something changes. */
const around = (sizes: readonly number[]) =>
  fc.oneof(fc.nat(400), ...sizes.map((size) => fc.integer({ min: Math.max(0, size - 3), max: size + 3 })))
const gsm = around([160, 153, 306, 459]).chain((size) =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...BASIC) }, fc.constantFrom(...EXTENSION)), {
      minLength: size,
      maxLength: size,
    })
    .map((characters) => characters.join('')),
)
const ucs = around([70, 67, 134, 201]).chain((size) =>
  fc
    .array(fc.constantFrom('a', 'ш', '漢', '🎉', '👍', '`'), { minLength: size, maxLength: size })
    .map((characters) => `ш${characters.join('')}`),
)

describe('smsText', () => {
  it('has the 127 characters of the default alphabet and the ten of its extension', () => {
    expect(new Set(BASIC).size).toBe(127)
    for (const character of BASIC)
      expect(smsText(character)).toEqual({ encoding: 'gsm-7', segments: 1, characters: 1 })
    for (const character of EXTENSION)
      expect(smsText(character)).toEqual({ encoding: 'gsm-7', segments: 1, characters: 2 })
  })

  it('needs 16 bits for every other character', () => {
    for (let code = 0; code < 0x3000; code += 1) {
      const known = BASIC_CODES.includes(code) || EXTENSION_CODES.includes(code)
      expect(smsText(String.fromCodePoint(code)).encoding, code.toString(16)).toBe(known ? 'gsm-7' : 'ucs-2')
    }
  })

  // Counted by hand from 3GPP TS 23.038 and 23.040 9.2.3.24.1.
  it.each([
    ['nothing', '', 'gsm-7', 1, 0],
    ['160 letters', 'a'.repeat(160), 'gsm-7', 1, 160],
    ['161 letters', 'a'.repeat(161), 'gsm-7', 2, 161],
    ['306 letters', 'a'.repeat(306), 'gsm-7', 2, 306],
    ['307 letters', 'a'.repeat(307), 'gsm-7', 3, 307],
    ['80 euros', '€'.repeat(80), 'gsm-7', 1, 160],
    ['81 euros', '€'.repeat(81), 'gsm-7', 2, 162],
    ['153 euros: 76 to a part', '€'.repeat(153), 'gsm-7', 3, 306],
    ['a euro over the cut', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'gsm-7', 3, 306],
    ['a euro beside the cut', `${'a'.repeat(151)}€${'a'.repeat(153)}`, 'gsm-7', 2, 306],
    ['German umlauts', 'Grüße aus Köln, Ärger über Öl', 'gsm-7', 1, 29],
    ['a small c with cedilla', 'ça va', 'ucs-2', 1, 5],
    ['a typographic quote', `${'a'.repeat(69)}’`, 'ucs-2', 1, 70],
    ['one more', `${'a'.repeat(70)}’`, 'ucs-2', 2, 71],
    ['134 Cyrillic letters', 'ш'.repeat(134), 'ucs-2', 2, 134],
    ['135 Cyrillic letters', 'ш'.repeat(135), 'ucs-2', 3, 135],
    ['35 emoji', '🎉'.repeat(35), 'ucs-2', 1, 70],
    ['67 emoji: 33 to a part', '🎉'.repeat(67), 'ucs-2', 3, 134],
    ['an emoji over the cut', `${'ш'.repeat(66)}🎉${'ш'.repeat(66)}`, 'ucs-2', 3, 134],
    ['an emoji beside the cut', `${'ш'.repeat(65)}🎉${'ш'.repeat(67)}`, 'ucs-2', 2, 134],
  ] as const)('counts %s', (_, text, encoding, segments, characters) => {
    expect(smsText(text)).toEqual({ encoding, segments, characters })
  })

  it('cuts GSM text as its septets are cut', () => {
    fc.assert(
      fc.property(gsm, (text) => {
        const transmitted = septets(text)
        expect(smsText(text)).toEqual({
          encoding: 'gsm-7',
          segments: partsOf(transmitted, 160, 153, (septet) => septet === ESCAPE),
          characters: transmitted.length,
        })
      }),
      { numRuns: 1_000 },
    )
  })

  it('cuts other text as its units are cut', () => {
    fc.assert(
      fc.property(ucs, (text) => {
        const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
        expect(smsText(text)).toEqual({
          encoding: 'ucs-2',
          segments: partsOf(units(text), 70, 67, isHigh),
          characters: text.length,
        })
      }),
      { numRuns: 1_000 },
    )
  })

  it('takes any text, broken surrogates included', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
        (text) => {
          const { segments, characters } = smsText(text)
          expect(segments).toBeGreaterThanOrEqual(1)
          expect(characters).toBeGreaterThanOrEqual(text.length)
        },
      ),
    )
  })
})
