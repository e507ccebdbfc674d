import type { ChannelKind } from '../domain/channel-kind.ts'
import { assertPermittedCountry } from '../domain/sms-countries.ts'
import { canonicalNumber, isPhoneNumber, type NumberCheck } from './phone-number.ts'

/** Validates and normalizes recipients that are phone numbers. */
export function phoneRecipient(
  check: NumberCheck,
): Required<Pick<ChannelKind, 'recipient' | 'checkRecipient' | 'canonical' | 'assertPermitted'>> {
  return {
    recipient: 'a phone number in E.164 form such as +14155550123',
    checkRecipient(to) {
      if (isPhoneNumber(to, check)) return null
      const expected = canonicalNumber(to)
      if (expected === to || !isPhoneNumber(expected, check)) return { code: 'invalid_phone' }
      return {
        code: 'invalid_phone',
        message: `The phone number contains a national trunk prefix. Use ${expected}.`,
        expected,
      }
    },
    canonical: canonicalNumber,
    assertPermitted: (to, { smsCountries }) => assertPermittedCountry(to, smsCountries),
  }
}
