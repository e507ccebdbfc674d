import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalLocale,
  directionOf,
  isTimeZone,
  localesFor,
  writingOf,
} from '../../../src/domain/locale.ts'

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
          expect(writingOf(each)).toBe(writingOf(locale))
        }
        if (available.includes(locale)) expect(found[0]).toBe(locale)
        const short = locale.split('-')[0] ?? ''
        if (available.includes(short) && writingOf(short) === writingOf(locale))
          expect(found).toContain(short)
      }),
    )
  })
})

describe('names', () => {
  it('of locales have one form', () => {
    expect(canonicalLocale('de-at')).toBe('de-AT')
    expect(canonicalLocale('zh-hant-hk')).toBe('zh-Hant-HK')
    expect(canonicalLocale('de-u-co-phonebk')).toBe('de')
    expect(canonicalLocale('nonsense!')).toBeNull()
    expect(canonicalLocale('x'.repeat(100))).toBeNull()
    expect(canonicalLocale('')).toBeNull()
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
