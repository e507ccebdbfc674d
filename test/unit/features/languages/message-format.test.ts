import { beforeAll, describe, expect, it } from 'vitest'
import { type Formatting, loadFormatting } from '../../../../src/features/languages/message-format.ts'

let formatting: Formatting
beforeAll(async () => {
  formatting = await loadFormatting()
})

function shown(format: string, value: unknown, locale = 'en'): string {
  const message = `{v, ${format}}`
  formatting.check(message, locale)
  const text = formatting.compile(message, locale).format(() => value, String, 'UTC')
  return text.replaceAll(/[\u00a0\u202f]/g, ' ')
}

describe('a number skeleton has the meaning that ICU gives it', () => {
  it.each([
    // Percents are not multiplied, unless a scale does it.
    ['percent', 0.5, '0.5%'],
    ['percent', 50, '50%'],
    ['%', 50, '50%'],
    ['percent scale/100', 0.5, '50%'],
    ['scale/100 percent', 0.5, '50%'],
    ['%x100', 0.5, '50%'],
    ['percent scale/100', 0.123456, '12.3456%'],
    ['percent scale/100 .', 0.123456, '12%'],
    ['percent scale/100 .00', 0.5, '50.00%'],
    ['percent scale/100 +!', 0.07, '+7%'],
    ['percent scale/100', 0, '0%'],
    ['scale/100', 0.5, '50'],
    ['scale/0.01', 250, '2.5'],
    // Precision.
    ['sign-auto', 1 / 3, '0.333333'],
    ['.00', 1.5, '1.50'],
    ['.##', 1.567, '1.57'],
    ['.0#', 1, '1.0'],
    ['.00*', 1.5, '1.50'],
    ['.0*', 1.23456789, '1.23456789'],
    ['.', 1.5, '2'],
    ['precision-integer', 1.4, '1'],
    ['.00/w', 3, '3'],
    ['.00/w', 3.1, '3.10'],
    ['@@', 1234, '1,200'],
    ['@##', 0.12345, '0.123'],
    ['@@*', 1.2345678, '1.2345678'],
    ['rounding-mode-floor .', 1.9, '1'],
    ['rounding-mode-half-even .', 2.5, '2'],
    ['000', 7, '007'],
    ['integer-width/*000', 7, '007'],
    // Currencies.
    ['currency/EUR', 1.5, '€1.50'],
    ['currency/JPY', 1500, '¥1,500'],
    ['currency/CAD unit-width-short', 1.5, 'CA$1.50'],
    ['currency/CAD unit-width-narrow', 1.5, '$1.50'],
    ['currency/CAD unit-width-iso-code', 1.5, 'CAD 1.50'],
    ['currency/CAD unit-width-full-name', 1.5, '1.50 Canadian dollars'],
    ['currency/EUR ()', -1.5, '(€1.50)'],
    ['currency/EUR .', 1.5, '€2'],
    // Notation, units, signs, grouping.
    ['K', 12_345, '12K'],
    ['compact-long', 12_345, '12 thousand'],
    ['E0', 12_345, '1.2345E4'],
    ['scientific', 12_345, '1.2345E4'],
    ['engineering', 12_345, '12.345E3'],
    ['unit/kilometer', 3, '3 km'],
    ['measure-unit/length-meter unit-width-full-name', 3, '3 meters'],
    ['measure-unit/speed-kilometer-per-hour', 3, '3 km/h'],
    ['+!', 5, '+5'],
    ['+_', -5, '5'],
    ['+?', 0, '0'],
    [',_', 12_345, '12345'],
    [',?', 1_234, '1234'],
    ['group-min2', 12_345, '12,345'],
  ])('::%s of %d is %s', (skeleton, value, text) => {
    expect(shown(`number, ::${skeleton}`, value)).toBe(text)
  })

  it('in other languages', () => {
    expect(shown('number, ::percent scale/100', 0.5, 'de')).toBe('50 %')
    expect(shown('number, ::currency/EUR', 1.5, 'de')).toBe('1,50 €')
  })

  it('beside named styles, which JavaScript and ICU read alike', () => {
    expect(shown('number, percent', 0.5)).toBe('50%')
    expect(shown('number, integer', 1.5)).toBe('2')
  })
})

describe('a skeleton with a word that is not supported is refused, and the word named', () => {
  it.each([
    ...['nonsense', 'nonsense/X', 'permille', 'per-measure-unit/duration-second', 'unit-width-hidden'],
    ...['currency', 'currency/EURO', 'currency/EUR/USD', 'unit', 'unit/parsec', 'measure-unit/meter'],
    ...['scale', 'scale/x', 'scale/0', 'scale/1/2', 'r', 's', '#', '###', '+', '@r', '.00/x', '@@/r', '.x'],
    ...[
      'E00',
      'E+!0',
      'scientific/+ee',
      'scientific/sign-always',
      'integer-width/##0',
      'precision-increment/5',
    ],
    ...['0'.repeat(30), `.${'0'.repeat(200)}`, '__proto__', 'constructor'],
  ])('::%s', (word) => {
    for (const skeleton of [word, `currency/EUR ${word}`, `${word} .00`])
      expect(() => formatting.check(`{v, number, ::${skeleton}}`, 'en')).toThrow(
        `the format "${word}" is not supported`,
      )
  })

  it.each([
    ['foo', 'f'],
    ['yMMMdQQ', 'QQ'],
    ['yMMMMMM', 'MMMMMM'],
    ['yw', 'w'],
    ['hmSSS', 'SSS'],
    ["y'year'", "'"],
    ['-', '-'],
  ])('of a date: ::%s', (skeleton, field) => {
    for (const type of ['date', 'time'])
      expect(() => formatting.check(`{v, ${type}, ::${skeleton}}`, 'en')).toThrow(
        `the format "${field}" of a date is not supported`,
      )
  })
})

describe('compiled messages', () => {
  const compiled = (source: string) => formatting.compile(source, 'en')

  it('are kept, those used last, up to a sum of their sizes', () => {
    const [used, unused] = [compiled('Used {a}'), compiled('Unused {a}')]
    for (let n = 0; n < 2_100; n += 1) compiled(`${n} {a}`)
    expect(compiled('Used {a}')).toBe(used)
    expect(compiled('Unused {a}')).toBe(unused)
    const large = '{n, plural, =1{} other{}}'.repeat(60)
    for (let n = 0; n < 200; n += 1) {
      compiled(`${n} ${large}`)
      compiled('Used {a}')
    }
    expect(compiled('Used {a}')).toBe(used)
    expect(compiled('Unused {a}')).not.toBe(unused)
  })
})

describe('a date', () => {
  const at = '2026-01-05T13:04:05Z'

  it.each(['en', 'de', 'fr', 'ja'])('without a style is of medium length, and so is a time: %s', (locale) => {
    expect(shown('date', at, locale)).toBe(shown('date, medium', at, locale))
    expect(shown('time', at, locale)).toBe(shown('time, medium', at, locale))
  })

  it.each([
    ['date', 'Jan 5, 2026'],
    ['time', '1:04:05 PM'],
    ['date, ::yMMMd', 'Jan 5, 2026'],
    ['date, ::EEEEMMMMd', 'Monday, January 5'],
    ['date, ::yyyyMMdd', '01/05/2026'],
    ['time, ::jmm', '1:04 PM'],
    ['time, ::Hmm', '13:04'],
    ['date, ::yMMMdjmm', 'Jan 5, 2026, 1:04 PM'],
  ])('%s', (format, text) => {
    expect(shown(format, at)).toBe(text)
  })
})
