import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalLocale,
  directionOf,
  isRead,
  isTimeZone,
  localeIn,
  localesFor,
  writingOf,
} from '../../../../src/core/input/locale.ts'
import { chooseLanguage } from '../../../../src/core/links/page-texts.ts'

const NAMES = [
  'en',
  'en-GB',
  'en-US',
  'fr',
  'fr-BE',
  'fr-CA',
  'de',
  'de-AT',
  'zh',
  'zh-Hant',
  'zh-Hant-HK',
  'sr',
  'sr-Latn',
  'ar',
  'pt-BR',
  'pt-PT',
  'es-419',
  'es',
  'no',
  'nb',
  'nb-NO',
  'nb-SJ',
  'nn',
  'nn-NO',
]
const name = fc.constantFrom(...NAMES)

describe('the locales for a reader', () => {
  it('are available, of the language and script, without duplicates, and begin with the locale itself', () => {
    fc.assert(
      fc.property(name, fc.uniqueArray(name), fc.option(name), (locale, available, matched) => {
        const best = (_: string, among: readonly string[]) =>
          matched !== null && among.includes(matched) ? matched : null
        const found = localesFor(locale, available, best)
        expect(new Set(found).size).toBe(found.length)
        for (const each of found) {
          expect(available).toContain(each)
          expect(isRead(each, locale)).toBe(true)
        }
        if (available.includes(locale)) expect(found[0]).toBe(locale)
        const short = locale.split('-')[0] ?? ''
        if (available.includes(short) && writingOf(short) === writingOf(locale))
          expect(found).toContain(short)
      }),
    )
  })
})

describe('Norwegian', () => {
  const all = ['nn', 'nn-NO', 'nb', 'nb-NO', 'no', 'no-NO', 'da', 'sv', 'en']
  const found = (locale: string, available = all) => localesFor(locale, available, () => null)

  it('has two names for Bokmål, and Nynorsk comes last for its readers', () => {
    expect(found('nb-NO')).toEqual(['nb-NO', 'no-NO', 'nb', 'no', 'nn-NO', 'nn'])
    expect(found('no')).toEqual(['no', 'nb', 'nn'])
    expect(found('nn')).toEqual(['nn', 'no', 'nb'])
  })

  it('is found under any name', () => {
    for (const reader of ['no', 'nb', 'nn', 'nb-NO', 'nn-NO'])
      for (const text of ['no', 'nb', 'nn']) expect(found(reader, ['en', text, 'da'])).toEqual([text])
    expect(found('da')).toEqual(['da'])
    expect(found('nb', ['da', 'sv', 'nb-Cyrl'])).toEqual([])
  })

  it('is matched within each form first', () => {
    const first = (_: string, among: readonly string[]) => among[0] ?? null
    expect(localesFor('nb-SJ', ['nn-NO', 'nb-NO'], first)).toEqual(['nb-NO', 'nn-NO'])
    expect(localesFor('nn-NO', ['nb-NO', 'nn'], first)).toEqual(['nn', 'nb-NO'])
  })

  it('of pages is found under any name', () => {
    const english = ['en', 'da']
    for (const reader of ['nb-NO', 'no', 'nn'])
      for (const text of ['no', 'nb', 'nn'])
        expect(chooseLanguage([reader], undefined, [...english, text])).toBe(text)
    expect(chooseLanguage([], 'nn-NO, nb;q=0.8, da;q=0.5', [...english, 'no', 'nb'])).toBe('no')
    expect(chooseLanguage([], 'da, nb', [...english, 'no'])).toBe('da')
  })

  it('of another form is formatted in its own way', () => {
    expect(writingOf('nb')).toBe(writingOf('no-NO'))
    expect(writingOf('nn')).not.toBe(writingOf('nb'))
  })
})

describe('names', () => {
  it('of locales have one form', () => {
    expect(canonicalLocale('de-at')).toBe('de-AT')
    expect(canonicalLocale('zh-hant-hk')).toBe('zh-Hant-HK')
    expect(canonicalLocale('de-u-co-phonebk')).toBe('de')
    expect(canonicalLocale('nonsense!')).toBeNull()
    expect(canonicalLocale('german')).toBeNull()
    expect(canonicalLocale('fil-ph')).toBe('fil-PH')
    expect(canonicalLocale('x'.repeat(100))).toBeNull()
    expect(canonicalLocale('')).toBeNull()
  })

  it.each([
    ['de_AT', 'de-AT'],
    ['de_AT.UTF-8', 'de-AT'],
    ['de_AT@euro', 'de-AT'],
    ['de_AT.ISO-8859-15@euro', 'de-AT'],
    ['pt_BR.utf8', 'pt-BR'],
    ['zh_Hant_TW', 'zh-Hant-TW'],
    ['sr_RS@latin', 'sr-Latn-RS'],
    ['sr_RS.UTF-8@latin', 'sr-Latn-RS'],
    ['uz_UZ@cyrillic', 'uz-Cyrl-UZ'],
    ['ca_ES@valencia', 'ca-ES'],
    ['EN_us', 'en-US'],
    ['de-at', 'de-AT'],
    ['no', 'no'],
    ['C', null],
    ['C.UTF-8', null],
    ['', null],
    ['_', null],
    ['de_AT@a@b', null],
    ['de AT', null],
    ['x'.repeat(65), null],
  ])('of people may be those of POSIX: %s is %s', (name, locale) => {
    expect(localeIn(name)).toBe(locale)
  })

  it('of time zones are those of IANA', () => {
    expect(isTimeZone('Europe/Vienna')).toBe(true)
    expect(isTimeZone('Mars/Olympus')).toBe(false)
    expect(isTimeZone('')).toBe(false)
  })

  it('have a direction', () => {
    for (const locale of ['ar', 'he-IL', 'fa', 'ur-PK', 'yi', 'az-Arab'])
      expect(directionOf(locale)).toBe('rtl')
    for (const locale of ['de', 'zh-Hant', 'az', 'ru']) expect(directionOf(locale)).toBe('ltr')
  })
})
