import { describe, expect, it } from 'vitest'
import { assertCustody } from '../../../../src/core/people/personal-records.ts'
import type { RecordKind } from '../../../../src/core/records/record-kind.ts'
import { personalPreferences } from '../../../../src/features/preferences/records.ts'
import { personalSuppressions } from '../../../../src/features/suppressions/records.ts'

const hashes = { address: () => 'hash', recipient: () => 'hash' }
const preferences = personalPreferences(hashes)
const suppressions = personalSuppressions(hashes)
const nobody = { recipient: null, address: null }

describe('a kind of records', () => {
  const kind: RecordKind = { name: 'wishes', version: 1 }
  const personal = { kind, erased: () => null, exported: () => ({ type: 'wish' }) }

  it('says either whom it concerns or why nobody', () => {
    expect(() => assertCustody([kind], [personal])).not.toThrow()
    expect(() => assertCustody([{ ...kind, notPersonal: 'a setting' }], [])).not.toThrow()
    expect(() => assertCustody([kind], [])).toThrow('"wishes"')
    expect(() => assertCustody([{ ...kind, notPersonal: 'a setting' }], [personal])).toThrow('"wishes"')
  })
})

describe('what stays', () => {
  it('of a suppression: that it is one', () => {
    const value = {
      channel: 'email',
      address: 'ada@example.com',
      reason: 'manual',
      source: 'Ada called',
    } as const
    const erased = { channel: 'email', address: null, reason: 'manual', source: null }
    expect(suppressions.erased(value, nobody)).toEqual(erased)
  })

  it('of preferences: what is turned off, and since when', () => {
    const value = {
      by: 'address',
      updatedAt: 7,
      channels: { email: false, sms: true },
      categories: { news: { '*': false, push: true }, offers: { email: true } },
      quietHours: false,
      chosenAt: { ':email': 1, ':sms': 2, 'news:*': 3, 'news:push': 4, quietHours: 5 },
    } as const
    const erased = preferences.erased(value, nobody)
    expect(erased).toEqual({
      by: 'address',
      updatedAt: 7,
      channels: { email: false },
      categories: { news: { '*': false } },
      chosenAt: { ':email': 1, 'news:*': 3 },
    })
    expect(erased && preferences.erased(erased, nobody)).toBe(erased)
  })

  it('of preferences that turn nothing off: nothing', () => {
    const value = { by: 'recipient', updatedAt: null, channels: { sms: true }, categories: {} } as const
    expect(preferences.erased(value, nobody)).toBeNull()
  })
})
