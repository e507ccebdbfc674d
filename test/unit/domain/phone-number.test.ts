import fc from 'fast-check'
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  Metadata,
} from 'libphonenumber-js/min'
import examples from 'libphonenumber-js/mobile/examples'
import { expect, it } from 'vitest'
import { sms } from '../../../src/channels/built-in.ts'
import { canonicalNumber, isPhoneNumber } from '../../../src/channels/phone-number.ts'
import { smsKind } from '../../../src/channels/sms.ts'
import { isNotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { assertRecipient, suppressedAddress } from '../../../src/domain/recipient.ts'

interface Region {
  readonly region: CountryCode
  /** Without a plus sign. */
  readonly callingCode: string
  /** What is dialled before a number within the country; empty: nothing. */
  readonly trunk: string
  /** A mobile number of the region, without its calling code. */
  readonly example: string
}

const REGIONS: readonly Region[] = getCountries().map((region) => {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(region)
  const plan = metadata.numberingPlan
  const example = getExampleNumber(region, examples)
  if (plan === undefined || example === undefined) throw new Error(`${region} has no numbering plan.`)
  const trunk = String((plan as unknown as { nationalPrefix(): string | undefined }).nationalPrefix() ?? '')
  return {
    region,
    callingCode: getCountryCallingCode(region),
    trunk,
    example: String(example.nationalNumber),
  }
})

it('knows all regions', () => {
  expect(REGIONS.length).toBeGreaterThan(240)
})

it('accepts a number of every region, which has one form', () => {
  for (const { callingCode, example } of REGIONS) {
    const number = `+${callingCode}${example}`
    expect(isPhoneNumber(number, 'possible'), number).toBe(true)
    expect(isPhoneNumber(number, 'valid'), number).toBe(true)
    expect(suppressedAddress(sms, number)).toBe(number)
  }
})

it('refuses a number of every region with the trunk prefix before it', () => {
  // In Italy the zero is part of a number.
  const withTrunk = REGIONS.filter(({ trunk, callingCode }) => trunk !== '' && callingCode !== '39')
  expect(withTrunk.length).toBeGreaterThan(100)
  let others = 0
  for (const { callingCode, trunk, example } of withTrunk) {
    const dialled = `+${callingCode}${trunk}${example}`
    expect(isPhoneNumber(dialled, 'possible'), dialled).toBe(false)
    if (suppressedAddress(sms, dialled) === `+${callingCode}${example}`) others += 1
  }
  // The rest are too long to be read as a number with a prefix.
  expect(others).toBeGreaterThan(100)
})

it('keeps every number that it accepts as it is, so that an opt-out matches', () => {
  const rest = fc.stringMatching(/^[0-9]{4,14}$/)
  const prefix = fc.constantFrom('', '0', '1', '8', '00', '15')
  fc.assert(
    fc.property(fc.constantFrom(...REGIONS), prefix, fc.boolean(), rest, (region, first, known, digits) => {
      const { callingCode, trunk, example } = region
      for (const start of [first, trunk]) {
        const national = `${start}${known ? example : digits}`
        const to = `+${callingCode}${national}`
        if (isPhoneNumber(to, 'possible')) expect(suppressedAddress(sms, to)).toBe(to)
        else expect(() => assertRecipient(sms, to)).toThrow()
        if (callingCode === '1' && /^[01]/.test(national)) expect(isPhoneNumber(to, 'possible')).toBe(false)
      }
    }),
    { numRuns: 2_000 },
  )
})

it.each(['+870773111632', '+881612345678', '+882161234567', '+80012345678'])(
  'takes %s, which belongs to no region',
  (to) => {
    expect(isPhoneNumber(to, 'possible')).toBe(true)
    expect(canonicalNumber(to)).toBe(to)
  },
)

it('says which number a trunk prefix stands before', () => {
  try {
    assertRecipient(sms, '+4407911123456')
    expect.unreachable()
  } catch (error) {
    if (!isNotifierError(error)) throw error
    expect(error.message).toContain('Use +447911123456.')
    expect(error.details).toMatchObject({ received: '+4407911123456', expected: '+447911123456' })
  }
})

it('refuses what matches no numbering plan where that is asked for', () => {
  expect(isPhoneNumber('+15551234567', 'possible')).toBe(true)
  expect(isPhoneNumber('+15551234567', 'valid')).toBe(false)
  expect(() => assertRecipient(sms, '+15551234567')).not.toThrow()
  expect(() => assertRecipient(smsKind({ maxSmsSegments: 10, smsNumbers: 'valid' }), '+15551234567')).toThrow(
    'E.164',
  )
})
