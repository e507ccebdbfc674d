import fc from 'fast-check'
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  Metadata,
} from 'libphonenumber-js/min'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it } from 'vitest'
import { whatsappChannel } from '../../../../adapters/channels/whatsapp/send.ts'
import { sms } from '../../../../src/core/channels/built-in.ts'
import { canonicalNumber, isPhoneNumber, phoneIdentity } from '../../../../src/core/channels/phone-number.ts'
import { assertRecipient, suppressedAddress } from '../../../../src/core/channels/recipient.ts'
import { smsKind } from '../../../../src/core/channels/sms.ts'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'

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

const inOldForm = /^\+(?:55[1-9]{2}[6-9]\d{7}|521[2-9]\d{9}|54[1-3]\d{9}|225[04-9]\d{7})$/

it('keeps every number that it accepts as it is, so that an opt-out matches', () => {
  const rest = fc.stringMatching(/^[0-9]{4,14}$/)
  const prefix = fc.constantFrom('', '0', '1', '8', '00', '15')
  fc.assert(
    fc.property(fc.constantFrom(...REGIONS), prefix, fc.boolean(), rest, (region, first, known, digits) => {
      const { callingCode, trunk, example } = region
      for (const start of [first, trunk]) {
        const national = `${start}${known ? example : digits}`
        const to = `+${callingCode}${national}`
        if (isPhoneNumber(to, 'possible')) expect(suppressedAddress(sms, to) === to).toBe(!inOldForm.test(to))
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

describe('two spellings of one phone', () => {
  const digits = (pattern: string) => fc.stringMatching(new RegExp(`^${pattern}$`))
  /** Rests of numbers, with what stands before them today and in the old form. */
  const FORMS: Readonly<Record<string, readonly [rest: fc.Arbitrary<string>, now: string, old: string]>> = {
    'Mexico without the 1 of mobile numbers': [digits('[2-9][0-9]{9}'), '+52', '+521'],
    'Argentina with the 9 of mobile numbers': [digits('[1-3][0-9]{9}'), '+549', '+54'],
    'Ivory Coast, Moov': [digits('[04-9][0-3][0-9]{6}'), '+22501', '+225'],
    'Ivory Coast, MTN': [digits('[04-9][4-6][0-9]{6}'), '+22505', '+225'],
    'Ivory Coast, Orange': [digits('[04-9][7-9][0-9]{6}'), '+22507', '+225'],
    ...Object.fromEntries(
      ['11', '21', '31', '48', '92', '99'].map((area) => [
        `Brazil with the ninth digit, area ${area}`,
        [digits('[6-9][0-9]{7}'), `+55${area}9`, `+55${area}`] as const,
      ]),
    ),
  }

  it.each(Object.entries(FORMS))('have one identity, the present form: %s', (_, [rest, now, old]) => {
    fc.assert(
      fc.property(rest, rest, (one, other) => {
        expect(phoneIdentity(old + one)).toBe(now + one)
        expect(phoneIdentity(now + one)).toBe(now + one)
        if (one !== other) expect(phoneIdentity(old + one)).not.toBe(phoneIdentity(now + other))
      }),
    )
  })

  it('are those of mobile phones alone: a landline of Brazil has eight digits', () => {
    fc.assert(
      fc.property(digits('[1-9]{2}[2-5][0-9]{7}'), (landline) => {
        expect(phoneIdentity(`+55${landline}`)).toBe(`+55${landline}`)
      }),
    )
    for (const to of ['+558001234567', '+54800123456', '+548001234567', '+52155123456', '+22527212345'])
      expect(phoneIdentity(to)).toBe(to)
    // Old landlines of Ivory Coast.
    expect(phoneIdentity('+22520344373')).toBe('+22520344373')
  })

  it('of Argentina includes the 15 that is dialled within the country', () => {
    for (const to of ['+54111558749895', '+541158749895', '+5491158749895'])
      expect(phoneIdentity(to)).toBe('+5491158749895')
  })

  it('are the only ones: an identity is its own identity, and another number is another phone', () => {
    const to = fc
      .tuple(
        fc.constantFrom(
          ...REGIONS,
          ...REGIONS.filter(({ region }) => ['BR', 'MX', 'AR', 'CI'].includes(region)),
        ),
        digits('[0-9]{6,12}'),
      )
      .map(([{ callingCode }, rest]) => `+${callingCode}${rest}`.slice(0, 16))
    fc.assert(
      fc.property(to, to, (one, other) => {
        const [identity, another] = [phoneIdentity(one), phoneIdentity(other)]
        fc.pre(isPhoneNumber(identity, 'possible') && isPhoneNumber(another, 'possible'))
        expect(phoneIdentity(identity)).toBe(identity)
        const [first, second] = [canonicalNumber(one), canonicalNumber(other)]
        if (identity !== first) expect(inOldForm.test(first)).toBe(true)
        const isPresent = !inOldForm.test(first) && !inOldForm.test(second)
        if (isPresent && first !== second) expect(identity).not.toBe(another)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are both taken where both are possible, and otherwise the present form is named', () => {
    for (const to of ['+5511987654321', '+551187654321', '+541158749895']) assertRecipient(sms, to)
    for (const [old, now] of [
      ['+5215512345678', '+525512345678'],
      ['+22507123456', '+2250707123456'],
    ] as const) {
      expect(sms.checkRecipient?.(old)).toMatchObject({ code: 'invalid_phone', expected: now })
      // WhatsApp reports its accounts under such numbers, and delivers to them.
      assertRecipient(whatsappChannel, old)
      assertRecipient(whatsappChannel, now)
    }
    for (const to of ['+4407911123456', '+54111558749895'])
      expect(() => assertRecipient(whatsappChannel, to)).toThrow()
  })
})
